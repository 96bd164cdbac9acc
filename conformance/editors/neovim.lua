-- A session of Neovim with `kubeshape lsp`: diagnostics, hover, completion, code actions, and an edit.
--
-- usage: KUBESHAPE=kubeshape nvim --headless -u NONE -l neovim.lua, or before 0.9: -c 'luafile neovim.lua'
local program = os.getenv('KUBESHAPE') or 'kubeshape'

local function fail(message)
  io.stderr:write(message .. '\n')
  vim.cmd('cquit 1')
end

local function expect(what, is, should)
  if not vim.deep_equal(is, should) then
    fail(what .. ': found ' .. vim.inspect(is) .. ', expected ' .. vim.inspect(should))
  end
end

local folder = vim.fn.tempname()
vim.fn.mkdir(folder, 'p')
local file = folder .. '/a.yaml'
vim.fn.writefile({ 'apiVersion: v1', 'kind: ConfigMap', 'metadata: {name: a}', 'dat: {}' }, file)
vim.cmd('edit ' .. file)
vim.bo.filetype = 'yaml'
local buffer = vim.api.nvim_get_current_buf()
local config = { name = 'kubeshape', cmd = { program, 'lsp' }, root_dir = folder }
local client
if vim.lsp.start then
  client = vim.lsp.start(config, { bufnr = buffer })
else
  client = vim.lsp.start_client(config)
  vim.lsp.buf_attach_client(buffer, client)
end

local function codes()
  local out = {}
  for _, found in ipairs(vim.diagnostic.get(buffer)) do
    table.insert(out, { found.lnum, found.code or found.user_data.lsp.code })
  end
  return out
end

local function ask(method, params)
  local answers = vim.lsp.buf_request_sync(buffer, method, params, 10000) or {}
  for _, answer in pairs(answers) do
    return answer.result
  end
end

local function at(line, character)
  return {
    textDocument = { uri = vim.uri_from_bufnr(buffer) },
    position = { line = line, character = character },
  }
end

vim.wait(20000, function() return #codes() > 0 end)
expect('diagnostics', codes(), { { 3, 'KS8102' } })
local params = { textDocument = { uri = vim.uri_from_bufnr(buffer) }, context = { diagnostics = {} } }
params.range = { start = { line = 3, character = 0 }, ['end'] = { line = 3, character = 3 } }
local actions = ask('textDocument/codeAction', params)
expect('code action', actions and actions[1].title, 'Replace with `data`')
vim.lsp.util.apply_workspace_edit(actions[1].edit, 'utf-16')
expect('text', vim.api.nvim_buf_get_lines(buffer, 3, 4, true), { 'data: {}' })
vim.wait(20000, function() return #codes() == 0 end)
expect('diagnostics after the edit', codes(), {})
local hover = ask('textDocument/hover', at(1, 1))
expect('hover', hover and hover.contents.value:match('^%*%*%.kind%*%* `string`') ~= nil, true)
vim.api.nvim_buf_set_lines(buffer, 4, 4, true, { 'im' })
local completion = ask('textDocument/completion', at(4, 2))
expect('completion', completion and completion.items[1].label, 'immutable')
vim.lsp.stop_client(client)
vim.wait(5000, function() return vim.lsp.get_client_by_id(client) == nil end)
print('Neovim ' .. tostring(vim.version().major) .. '.' .. vim.version().minor .. '.' .. vim.version().patch .. ': passed\n')
vim.cmd('qall!')
