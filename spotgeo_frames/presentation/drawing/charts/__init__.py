"""The charts of tables, by Altair: those of the page.

In come tables of the other rooms; out come specifications of Vega-Lite with their data. A module a subject: its rows of
plain values, then the chart of them. encodings.py has the colours, axes and tooltips that all share, and names.py the
names of submissions as charts show them. The names of fields are fixed in these modules; names from the user's data
appear only as data or options of a chart, never in an expression that Vega evaluates.
"""
