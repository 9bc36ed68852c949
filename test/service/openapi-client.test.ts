/** A client generated from `/openapi.json`: a program of it type-checks. */

import { copyFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { generateSource } from 'oazapfts'
import t from 'tap'
import { describeFields, fieldMeanings, meaningWithoutNull, parameterMeanings } from '../../api/docs/field-meanings.ts'
import { temporaryFolder } from '../support/databases.ts'
import { published } from '../support/published.ts'
import { runToEnd } from '../support/run-program.ts'

interface Described {
  name?: string
  description?: string
  $ref?: string
  properties?: Record<string, Described>
  parameters?: Described[]
}

/** All objects of a part of the contract, except conditions on fields that are described beside them. */
function partsOf(part: unknown): Described[] {
  if (typeof part !== 'object' || part === null) return []
  const inner = Object.entries(part).filter(([name]) => !['not', 'if', 'then', 'else'].includes(name))
  return [part, ...inner.flatMap(([, value]) => partsOf(value))]
}

const root = resolve(import.meta.dirname, '..', '..')
const folder = temporaryFolder(t)
const document = JSON.parse(JSON.stringify(describeFields(published)))

/** The compiler fails with the modules that tap preloads into every Node. */
function run(...words: string[]) {
  return runToEnd('env', ['-u', 'NODE_OPTIONS', process.execPath, ...words], { folder, environment: process.env })
}

t.before(async () => {
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  writeFileSync(join(folder, 'client.ts'), await generateSource(join(folder, 'openapi.json'), { useUnknown: true }))
  copyFileSync(join(import.meta.dirname, 'openapi-client', 'mistakes.ts'), join(folder, 'mistakes.ts'))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  // The declarations of the generator's run-time part do not know `exactOptionalPropertyTypes`.
  const compilerOptions = { exactOptionalPropertyTypes: false }
  const settings = { extends: join(root, 'tsconfig.json'), compilerOptions, include: ['*.ts'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings))
})

t.test('each field and parameter has a meaning, and each meaning its field', async t => {
  const { components, paths } = document
  const parts = [...partsOf(components.schemas), ...partsOf(paths)]
  const fields = parts.flatMap(({ properties = {}, parameters = [] }) => [
    ...Object.entries(properties),
    ...parameters.map(parameter => [parameter.name, parameter] as const),
  ])
  t.strictSame(
    fields.filter(([, { description, $ref }]) => description === undefined && $ref === undefined),
    [],
  )
  const texts = new Set(parts.map(({ description }) => description))
  const meanings = [...Object.values(fieldMeanings), ...Object.values(parameterMeanings)]
  t.strictSame(
    meanings.filter(meaning => !texts.has(meaning) && !texts.has(meaningWithoutNull(meaning))),
    [],
  )
})

t.test('a program of it type-checks only without mistakes', async t => {
  const checked = await run(join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '--project', folder)
  t.strictSame(checked, { status: 0, stdout: '', stderr: '' })
})
