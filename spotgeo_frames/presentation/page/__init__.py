"""The report: one HTML page to send to people, and a folder of Parquet with the tables behind it.

build.py calls the steps in order. evaluation.py computes the tables. From these, chart_data.py and charts.py make the
charts, frame_browser.py and pictures.py the frame browser, and page_tables.py the tables of the page. vega.py bundles
the script that draws charts. document.py writes the page, with the template, style and script in assets/. parquet.py
writes the folder. provenance.py lists the inputs and versions that the report was made with.
"""
