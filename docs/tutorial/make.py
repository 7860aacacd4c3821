"""Runs tutorial.md and writes tutorial.ipynb, with what viva answers below each block of code, for the page of the reference.

usage: python docs/tutorial/make.py   needs nbformat and nbclient, and viva's kernel: viva kernel --install"""
import pathlib, re

import nbclient, nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

HERE = pathlib.Path(__file__).parent
cells = []
for number, part in enumerate(re.split(r"^```rhai\n(.*?)^```\n", (HERE / "tutorial.md").read_text(), flags=re.S | re.M)):
    if part.strip():
        cell = new_code_cell(part.strip("\n")) if number % 2 else new_markdown_cell(part.strip("\n"))
        cell["id"] = f"part-{number}"
        cells.append(cell)
book = new_notebook(cells=cells, metadata={"kernelspec": {"name": "viva", "display_name": "viva", "language": "rhai"}})
nbclient.NotebookClient(book, kernel_name="viva", timeout=600, store_widget_state=False, record_timing=False).execute()
for cell in book.cells:
    # A page shows a figure once, as drawing, and no progress.
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if "image/svg+xml" in data:
            data.pop("image/png", None)
        output.pop("transient", None)
    if "outputs" in cell:
        cell["outputs"] = [output for output in cell["outputs"] if output.output_type != "stream" or output.name == "stdout"]
nbformat.write(book, HERE / "tutorial.ipynb")
