"""SepTran: one operator text, and for each machine a small file that says how it runs.

`files/` reads machine and mapping files. This package is an extra (`pip install easy_as[septran]`):
`import eas` does not import it.
"""
