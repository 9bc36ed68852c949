/**
 * Makes `dist/`, which the package holds in place of the sources: JavaScript, because Node strips no types inside
 * node_modules, and other files that are read beside it. npm runs it before it packs.
 */

import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { buildWeb } from '../web/build.ts'

const root = resolve(import.meta.dirname, '..')
const output = join(root, 'dist')
const assets = ['store/questdb/pom.xml', 'store/postgres/migrations', 'web/theme', 'web/dist', 'docs']

/** The compiler rewrites imports, and leaves the addresses of worker threads to us. */
const workerAddress = /(new URL\('\.\.?\/[\w./-]+\.)ts(', import\.meta\.url\))/g

function emittedFiles(): string[] {
  const names = readdirSync(output, { recursive: true, encoding: 'utf8' })
  return names.filter(name => name.endsWith('.js')).map(name => join(output, name))
}

function rewriteWorkerAddresses(file: string): void {
  const text = readFileSync(file, 'utf8')
  const rewritten = text.replaceAll(workerAddress, '$1js$2')
  const left = /['"`]\.\.?\/[^'"`\n]*\.ts['"`]/.exec(rewritten)
  if (left !== null) throw new Error(`${file} still names a source, ${left[0]}`)
  if (rewritten !== text) writeFileSync(file, rewritten)
}

if (!existsSync(join(root, 'node_modules'))) {
  process.stderr.write('The packages that make the package are missing here: run script/bootstrap first.\n')
  process.exit(1)
}
rmSync(output, { recursive: true, force: true })
execFileSync('tsc', ['--project', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' })
emittedFiles().forEach(rewriteWorkerAddresses)
await buildWeb()
// Compiled files exist already.
const isAsset = (file: string) => !file.endsWith('.ts')
for (const asset of assets) cpSync(join(root, asset), join(output, asset), { recursive: true, filter: isAsset })
