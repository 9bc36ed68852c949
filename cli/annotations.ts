/** `barograph annotations`: manages annotations in the charts of devices. */

import { AnnotationPage } from '../api/annotations/annotations.ts'
import { Annotation } from '../auth/annotations/annotation.ts'
import { CommandError, exitUsage } from './command-error.ts'
import { commands, list, operation, removal } from './operation-commands.ts'
import { recordNumber, textOrNone } from './option-values.ts'

const id = ['<id>', 'id of the annotation', recordNumber] as const
const annotation = { json: 'print the annotation as JSON', answer: Annotation }

interface NewFields {
  device?: string
  all?: boolean
}

export const defineAnnotations = commands(
  operation('add', 'write an annotation', {
    ...annotation,
    arguments: [['<text>', 'text, on one line']],
    options: [
      ['--device <name>', 'about this device'],
      ['--all', 'about all devices'],
      ['--from <time>', 'ISO 8601 with a zone; without it, now'],
      ['--to <time>', 'ISO 8601 with a zone'],
    ],
    help: 'Times have a zone. Without --to the annotation is of a moment.',
    examples: [
      "annotations add 'filter changed' --device porch",
      "annotations add 'heating season' --all --from 2026-10-01T00:00:00Z --to 2027-04-15T00:00:00Z",
    ],
    send: 'POST /annotations',
    body({ device, all, ...fields }: NewFields) {
      if ((device === undefined) === (all !== true))
        throw new CommandError('say about what: --device or --all', exitUsage)
      return { device: device ?? null, from: new Date().toISOString(), ...fields }
    },
  }),
  list('list', 'list annotations, the newest first', {
    options: [['--device <name>', 'about this device']],
    examples: ['annotations list --device porch'],
    send: 'GET /annotations?limit=1000',
    answer: AnnotationPage,
    none: 'no annotations',
    columns: ['id', ['device', ({ device }) => device ?? '(all)'], 'from', 'to', 'by', 'text'],
  }),
  operation('set', 'change an annotation', {
    ...annotation,
    arguments: [id],
    options: [
      ['--text <text>', 'text'],
      ['--from <time>', 'ISO 8601 with a zone'],
      ['--to <time>', 'ISO 8601 with a zone, or none', textOrNone],
    ],
    examples: ["annotations set 3 --text 'filter and fan changed' --to none"],
    send: 'PATCH /annotations/:id',
  }),
  removal('remove', 'remove an annotation', {
    arguments: [id],
    examples: ['annotations remove 3'],
    send: 'DELETE /annotations/:id',
    text: ({ id }) => `removed annotation ${id}`,
  }),
)
