/**
 * Builds `web/dist`: scripts and styles with hashed names, each also compressed. Unchanged sources are not built again,
 * so callers may run it at any time.
 */

import { createHash } from 'node:crypto'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { brotliCompressSync, gzipSync, constants as zlib } from 'node:zlib'

const web = import.meta.dirname
const root = resolve(web, '..')
const output = join(web, 'dist')
/** This file beside the output holds the hash of its sources. */
const stampFile = 'sources.sha256'
/** The bundle imports these folders besides `web`. */
const sharedFolders = ['alerts/core', 'analytics/findings', 'store/metrics']

/** Vite is loaded only when there is something to make, as it takes most of a second. */
export async function buildWeb(): Promise<void> {
  const stamp = stampOf(sourceFiles())
  if (stamp === builtStamp()) return
  // The build goes to a temporary folder and is renamed, so that pages are never served from a partial output.
  const made = mkdtempSync(join(web, '.build-'))
  try {
    await bundle(made)
    for (const file of filesBelow(made).filter(name => /\.(?:js|json|css|svg)$/.test(name))) compress(file)
    writeFileSync(join(made, stampFile), stamp)
    // The service may run as another user than the one that builds.
    chmodSync(made, 0o755)
    replace(made)
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}

async function bundle(folder: string): Promise<void> {
  const { build } = await import('vite')
  const results = await build({
    root: web,
    configFile: false,
    envDir: false,
    publicDir: false,
    logLevel: 'warn',
    // Links as seen from the page, for a proxy may put a prefix before all of our addresses.
    base: './',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir: folder,
      emptyOutDir: true,
      target: 'es2023',
      reportCompressedSize: false,
      // No data URLs: the policy of the pages allows files of ours alone.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      rolldownOptions: {
        // A slow machine is not a fault of the build.
        checks: { bundlerTimings: false },
        output: { codeSplitting: { groups: [{ debugName: 'base', name: chunkOf }] } },
      },
    },
  })
  const chunks = [results].flat().flatMap(result => ('output' in result ? result.output : []))
  const modules = chunks.flatMap(chunk => (chunk.type === 'chunk' ? chunk.moduleIds : []))
  const others = modules.filter(isUnwatched)
  if (others.length > 0) throw new Error(`changes of these would not be noticed: ${others.join(', ')}`)
}

/** Modules of each page are in one file. Their words await the catalogue, which would split them into many. */
function chunkOf(
  module: string,
  graph: { getModuleInfo(id: string): { importers: readonly string[] } | null },
): string | null {
  const importers = new Set([module])
  // Iteration over a set includes elements added meanwhile.
  for (const id of importers) for (const other of graph.getModuleInfo(id)?.importers ?? []) importers.add(other)
  return importers.has(join(web, 'main.tsx')) ? 'base' : null
}

/** True for a module whose changes would not trigger a build. */
function isUnwatched(module: string): boolean {
  const path = relative(root, module)
  if (path.startsWith('..') || module.startsWith('\0') || path.includes('node_modules')) return false
  return !['web', ...sharedFolders].some(folder => path.startsWith(`${folder}/`))
}

function compress(file: string): void {
  const bytes = readFileSync(file)
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
  writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: { [zlib.BROTLI_PARAM_QUALITY]: 11 } }))
}

/** When two builds run at once, the first output stays: both are equal. */
function replace(made: string): void {
  rmSync(output, { recursive: true, force: true })
  try {
    renameSync(made, output)
  } catch (error) {
    if (builtStamp() === undefined) throw error
  }
}

function builtStamp(): string | undefined {
  try {
    return readFileSync(join(output, stampFile), 'utf8')
  } catch {
    return undefined
  }
}

/** The output depends on these files. The lock file pins the versions of bundled packages. */
function sourceFiles(): string[] {
  const own = filesBelow(web).filter(file => !/^(?:dist|\.build-[^/]*)\//.test(relative(web, file)))
  const shared = sharedFolders.flatMap(folder => filesBelow(join(root, folder)))
  return [...own, ...shared, join(root, 'package-lock.json')]
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .sort()
}

function stampOf(files: readonly string[]): string {
  const hash = createHash('sha256')
  for (const file of files)
    hash
      .update(`${relative(root, file)}\0`)
      .update(readFileSync(file))
      .update('\0')
  return hash.digest('hex')
}

/** `npm ci --omit=dev` does not install the bundler. */
function isMissingVite(error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException
  return code === 'ERR_MODULE_NOT_FOUND' && message.includes("'vite'")
}

if (import.meta.main) {
  await buildWeb().catch((error: unknown) => {
    if (!process.argv.includes('--if-vite') || !isMissingVite(error)) throw error
  })
}
