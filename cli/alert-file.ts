/** `barograph alerts export` and `import`: the rules of the service as a file. */

import { readFileSync, writeFileSync } from 'node:fs'
import { text as textOf } from 'node:stream/consumers'
import { RuleFile } from '../api/alerts/rule-file.ts'
import { ImportedRules } from '../api/alerts/rule-import.ts'
import { jsonObjectOf } from './alert-options.ts'
import { withFile } from './command-error.ts'
import { command, commands, operation } from './operation-commands.ts'
import { printText } from './output.ts'

export const defineAlertFile = commands(
  command('export', 'write the rules of the service as JSON', {
    options: [['--output <file>', 'file in place of standard output']],
    json: false,
    help: 'The file has no ids and no secrets: channels stand in it by their names.',
    examples: ['alerts export > rules.json', 'alerts export --output rules.json'],
    async run({ output }: { output?: string }, { apiClient, streams }) {
      const file = `${JSON.stringify(await apiClient.json(RuleFile, 'GET', '/alert-rules/export'), undefined, 2)}\n`
      if (output === undefined) printText(streams.stdout, file)
      else withFile(output, 'written', () => writeFileSync(output, file))
      return undefined
    },
  }),
  operation('import', 'replace the rules of the service by the rules of a file', {
    arguments: [['<file>', 'of export, or - for standard input']],
    options: [['--prune', 'remove rules that are not in the file']],
    json: 'print the result as JSON',
    help: `Names identify rules. All of the file is imported, or nothing, so the same file changes nothing the second time. Its channels
have to exist.`,
    examples: ['alerts import rules.json', 'alerts import rules.json --prune'],
    send: 'POST /alert-rules/import',
    query: ['prune'],
    async body({ file }: { file: string }, { streams }) {
      const text = file === '-' ? await textOf(streams.stdin) : withFile(file, 'read', () => readFileSync(file, 'utf8'))
      return jsonObjectOf(file, text)
    },
    answer: ImportedRules,
    text: ({ added, changed, unchanged, removed }) => [
      `${added} added, ${changed} changed, ${unchanged} unchanged, ${removed} removed`,
    ],
  }),
)
