"""The tuner: which values of `!tune` make an operator fast on a machine.

`problem` says what is tuned, `space` what there is to choose from. `work` counts what a candidate
does, `cost` estimates from that and the machine file how long it takes, `residual` corrects
estimates by what was measured of other problems, and `surrogate` by what was measured of this one,
with the help of `candidate_features`; `prediction` does all of it. `proposers` choose the next
candidate, `optuna_proposer` with Optuna, and `methods` has them by name. `measure` tries it in a
process of its own, `trial_pool` on the workers of an executor, `cluster` on those of Dask. `store`
keeps what came of it, and `driver` goes on until trials or time are used up. `export` writes the
best one as a mapping. `sweep_recording` measures many candidates interleaved, `sweep_files` keeps
them, `sweeps` runs proposers against stored results, and `curves` draws them. `automatic` makes a
mapping in which everything is open.
"""
