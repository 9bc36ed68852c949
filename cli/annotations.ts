/** `barograph annotations`: manages what people have written in the charts of devices. */

import type { Command } from 'commander'
import { z } from 'zod'
import { AnnotationPage } from '../api/annotations/annotations.ts'
import { Annotation } from '../auth/annotations/annotation.ts'
import type { AdminClient } from './admin-client.ts'
import { listAll, recordId } from './alert-options.ts'
import type { CommandContext } from './command-context.ts'
import { CommandError, exitUsage } from './command-error.ts'
import { printFields, printJson, printTable, printText, type Streams } from './output.ts'

interface Json {
  json?: boolean
}

interface Times extends Json {
  from?: string
  to?: string
}

export function defineAnnotations(annotations: Command, { apiClient, streams }: CommandContext): void {
  addAdd(annotations, apiClient, streams)
  addList(annotations, apiClient, streams)
  addSet(annotations, apiClient, streams)
  addRemove(annotations, apiClient, streams)
}

const addHelp = `
Times have a zone. Without --to the annotation is of a moment.

Examples:
  barograph annotations add 'filter changed' --device porch
  barograph annotations add 'heating season' --all --from 2026-10-01T00:00:00Z --to 2027-04-15T00:00:00Z`

function addAdd(annotations: Command, client: AdminClient, streams: Streams): void {
  annotations
    .command('add')
    .description('write an annotation')
    .argument('<text>', 'text, on one line')
    .option('--device <name>', 'about this device')
    .option('--all', 'about all devices')
    .option('--from <time>', 'ISO 8601 with a zone; without it, now')
    .option('--to <time>', 'ISO 8601 with a zone')
    .option('--json', 'print the annotation as JSON')
    .addHelpText('after', addHelp)
    .action(async (text: string, options: Times & { device?: string; all?: boolean }) => {
      const { device, all, from = new Date().toISOString(), to, json } = options
      if ((device === undefined) === (all !== true))
        throw new CommandError('say about what: --device or --all', exitUsage)
      const body = { device: device ?? null, from, to, text }
      print(await client.json(Annotation, 'POST', '/annotations', body), json, streams)
    })
}

function addList(annotations: Command, client: AdminClient, streams: Streams): void {
  annotations
    .command('list')
    .description('list annotations, the newest first')
    .option('--device <name>', 'about this device')
    .option('--json', 'print as JSON')
    .addHelpText('after', '\nExample:\n  barograph annotations list --device porch')
    .action(async ({ device, json }: Json & { device?: string }) => {
      const path = `/annotations?limit=1000${device === undefined ? '' : `&device=${encodeURIComponent(device)}`}`
      const rowsOf = ({ annotations: rows, next }: AnnotationPage) => ({ rows, next })
      const found = await listAll(client, path, AnnotationPage, rowsOf)
      if (json === true) printJson(streams, found)
      else if (found.length === 0) printText(streams.stdout, 'no annotations\n')
      else printTable(streams, [['id', 'device', 'from', 'to', 'by', 'text'], ...found.map(cellsOf)])
    })
}

function cellsOf({ id, device, from, to, by, text }: Annotation): string[] {
  return [String(id), device ?? '(all)', from, to ?? '-', by ?? '-', text]
}

function addSet(annotations: Command, client: AdminClient, streams: Streams): void {
  annotations
    .command('set')
    .description('change an annotation')
    .argument('<id>', 'id of the annotation', recordId)
    .option('--text <text>', 'text')
    .option('--from <time>', 'ISO 8601 with a zone')
    .option('--to <time>', 'ISO 8601 with a zone, or none')
    .option('--json', 'print the annotation as JSON')
    .addHelpText('after', "\nExample:\n  barograph annotations set 3 --text 'filter and fan changed' --to none")
    .action(async (id: string, { text, from, to, json }: Times & { text?: string }) => {
      if (text === undefined && from === undefined && to === undefined) {
        throw new CommandError('nothing to change: --text, --from or --to', exitUsage)
      }
      const body = { text, from, to: to === 'none' ? null : to }
      print(await client.json(Annotation, 'PATCH', `/annotations/${id}`, body), json, streams)
    })
}

function addRemove(annotations: Command, client: AdminClient, streams: Streams): void {
  annotations
    .command('remove')
    .description('remove an annotation')
    .argument('<id>', 'id of the annotation', recordId)
    .option('--json', 'print the result as JSON')
    .addHelpText('after', '\nExample:\n  barograph annotations remove 3')
    .action(async (id: string, { json }: Json) => {
      await client.json(z.undefined(), 'DELETE', `/annotations/${id}`)
      if (json === true) printJson(streams, { removed: Number(id) })
      else printText(streams.stdout, `removed annotation ${id}\n`)
    })
}

function print(annotation: Annotation, json: boolean | undefined, streams: Streams): void {
  if (json === true) printJson(streams, annotation)
  else printFields(streams, annotation)
}
