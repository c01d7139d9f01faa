"""The tuner: which values of `!tune` make an operator fast on a machine.

`problem` says what is tuned, `space` what there is to choose from. `cost` estimates a candidate
from the machine file, `residual` corrects that by what was measured, and `prediction` does both.
`proposers` choose the next candidate, `measure` tries it in a process of its own, `store` keeps
what came of it, and `driver` goes on until trials or time are used up. `export` writes the best one
as a mapping, `sweeps` runs proposers against stored results, and `curves` draws them. `automatic`
makes a mapping in which everything is open.
"""
