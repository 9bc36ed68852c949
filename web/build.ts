/**
 * Makes `web/dist` of the sources: scripts and styles whose names hold their hashes, each also compressed. Nothing is done
 * when it was made of the same sources before, so whoever serves or packs it can ask for it at any time.
 */

import { createHash } from 'node:crypto'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { brotliCompressSync, gzipSync, constants as zlib } from 'node:zlib'

const web = import.meta.dirname
const root = resolve(web, '..')
const output = join(web, 'dist')
/** Beside the output: what it was made of. */
const stampFile = 'sources.sha256'
/** What is bundled beside the folder of the pages. */
const sharedFolders = ['alerts/core', 'analytics/findings', 'store/metrics']

/** Vite is loaded only when there is something to make, as it takes most of a second. */
export async function buildWeb(): Promise<void> {
  const stamp = stampOf(sourceFiles())
  if (stamp === builtStamp()) return
  // Made aside and put in its place at once, so that what is served meanwhile is whole.
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
    },
  })
  const chunks = [results].flat().flatMap(result => ('output' in result ? result.output : []))
  const modules = chunks.flatMap(chunk => (chunk.type === 'chunk' ? chunk.moduleIds : []))
  const others = modules.filter(isUnwatched)
  if (others.length > 0) throw new Error(`changes of these would not be noticed: ${others.join(', ')}`)
}

/** Whether a change of a bundled module would leave the output as it is. */
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

/** Of two builds at a time the first one stays; they are the same. */
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

/** Everything that the output depends on; the lock file has the versions of what is bundled. */
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

/** Without the packages for development, as `npm ci --omit=dev` leaves it, there is nothing to build with. */
function isMissingVite(error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException
  return code === 'ERR_MODULE_NOT_FOUND' && message.includes("'vite'")
}

if (import.meta.main) {
  await buildWeb().catch((error: unknown) => {
    if (!process.argv.includes('--if-vite') || !isMissingVite(error)) throw error
  })
}
