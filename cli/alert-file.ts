/** `barograph alerts export` and `import`: the rules of the service as a file. */

import { readFileSync, writeFileSync } from 'node:fs'
import { text as textOf } from 'node:stream/consumers'
import type { Command } from 'commander'
import { RuleFile } from '../api/alerts/rule-file.ts'
import { ImportedRules } from '../api/alerts/rule-import.ts'
import { jsonObjectOf } from './alert-options.ts'
import type { CommandContext } from './command-context.ts'
import { CommandError } from './command-error.ts'
import { printJson, printText } from './output.ts'

const exportHelp = `
The file has no ids and no secrets: channels stand in it by their names.

Examples:
  barograph alerts export > rules.json
  barograph alerts export --output rules.json`

const importHelp = `
Names identify rules. All of the file is imported, or nothing, so the same file changes nothing the second time. Its channels
have to exist.

Examples:
  barograph alerts import rules.json
  barograph alerts import rules.json --prune`

export function defineAlertFile(alerts: Command, { apiClient, streams }: CommandContext): void {
  alerts
    .command('export')
    .description('write the rules of the service as JSON')
    .option('--output <file>', 'file in place of standard output')
    .addHelpText('after', exportHelp)
    .action(async ({ output }: { output?: string }) => {
      const file = `${JSON.stringify(await apiClient.json(RuleFile, 'GET', '/alert-rules/export'), undefined, 2)}\n`
      if (output === undefined) printText(streams.stdout, file)
      else withFile(output, 'written', () => writeFileSync(output, file))
    })
  alerts
    .command('import')
    .description('replace the rules of the service by the rules of a file')
    .argument('<file>', 'of export, or - for standard input')
    .option('--prune', 'remove rules that are not in the file')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', importHelp)
    .action(async (file: string, { prune = false, json }: { prune?: boolean; json?: boolean }) => {
      const text = file === '-' ? await textOf(streams.stdin) : withFile(file, 'read', () => readFileSync(file, 'utf8'))
      const path = `/alert-rules/import?prune=${prune ? 1 : 0}`
      const imported = await apiClient.json(ImportedRules, 'POST', path, jsonObjectOf(file, text))
      const { added, changed, unchanged, removed } = imported
      if (json === true) printJson(streams, imported)
      else printText(streams.stdout, `${added} added, ${changed} changed, ${unchanged} unchanged, ${removed} removed\n`)
    })
}

function withFile<Result>(file: string, verb: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw new CommandError(`${file} cannot be ${verb}: ${error instanceof Error ? error.message : String(error)}`)
  }
}
