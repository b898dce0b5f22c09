from .page.build import report as report
