from recombine.studies.real_tables.contest import ContestRun
from recombine.studies.real_tables.registry import registry
from recombine.studies.study import Setting
def settings_of(what):
    some = sorted((e.cells,n,e) for n,e in registry().items() if e.source.half=="development")
    return {n: Setting(ContestRun(source=e.source)) for _,n,e in some}
