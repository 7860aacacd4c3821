-- Neovim asks `viva lsp` as its users do: nvim --headless --clean -l tests/lsp.lua VIVA FOLDER
local viva, folder = arg[1], arg[2]
vim.fn.writefile({ "/// Halves it.", "fn half(x) { x / 2 }" }, folder .. "/lib.rhai")
vim.fn.writefile({
  'import "lib" as lib;',
  "let value = lib::half(3);",
  "data::glpyhs(#{ n: value });",
  "value",
}, folder .. "/script.rhai")
vim.filetype.add({ extension = { rhai = "rhai" } })
vim.cmd.edit(folder .. "/script.rhai")
local id = assert(vim.lsp.start({ name = "viva", cmd = { viva, "lsp" }, root_dir = folder }))
local client = vim.lsp.get_client_by_id(id)
local buffer = vim.api.nvim_get_current_buf()
local function wait(what, done) assert(vim.wait(20000, done, 20), what) end
wait("it starts", function() return client.initialized end)
vim.lsp.buf_attach_client(buffer, id)
wait("diagnostics come", function() return #vim.diagnostic.get(buffer) > 0 end)
local found = vim.diagnostic.get(buffer)
assert(#found == 1 and found[1].lnum == 2 and found[1].col == 6, vim.inspect(found))

local function ask(method, line, column, more)
  local asked = { textDocument = { uri = vim.uri_from_bufnr(buffer) }, position = { line = line, character = column } }
  local answer = client:request_sync(method, vim.tbl_extend("force", asked, more or {}), 20000, buffer)
  assert(answer and not answer.err, method .. vim.inspect(answer))
  return answer.result
end
assert(ask("textDocument/hover", 1, 18).contents.value:find("Halves it.", 1, true), "a page")
local items = ask("textDocument/completion", 2, 8)
assert(#items == 1 and items[1].textEdit.newText == "glyphs", vim.inspect(items))
local there = ask("textDocument/definition", 1, 18)
assert(there.uri:find("/lib.rhai", 1, true) and there.range.start.line == 1, vim.inspect(there))
vim.lsp.util.apply_workspace_edit(ask("textDocument/rename", 1, 5, { newName = "part" }), client.offset_encoding)
local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
assert(lines[2] == "let part = lib::half(3);" and lines[3] == "data::glpyhs(#{ n: part });" and lines[4] == "part", vim.inspect(lines))
vim.api.nvim_buf_set_lines(buffer, 2, 3, false, { "data::glyphs(#{ n: part });" })
wait("diagnostics go", function() return #vim.diagnostic.get(buffer) == 0 end)
client:stop()
wait("it ends", function() return client:is_stopped() end)
print("neovim " .. tostring(vim.version()) .. ": all is well\n")
