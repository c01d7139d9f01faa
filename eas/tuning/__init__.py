"""Trials of candidates that may be wrong, slow or fatal: run apart, compared, timed, recorded.

`eas.autotune` and SepTran's tuner make candidates; what happens to each of them is decided here.
`isolation` runs a trial in a process of its own, `judging` compares a candidate with a reference
and times it beside the best one so far, `outcomes` is what is known of it then, and `merged_json`
keeps results in a file that many processes write to.
"""
