"""The report: one HTML page to send to people, and a folder of Parquet with the tables behind it.

build.py takes the steps in their order. evaluation.py makes the tables; chart_data.py and charts.py, frame_browser.py
and pictures.py, page_tables.py make of them what the page shows; vega.py puts together the script that draws;
document.py writes the page, with the template, style and script in assets/; parquet.py writes the folder; provenance.py
says what it all was made with.
"""
