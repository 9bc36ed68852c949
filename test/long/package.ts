/** The package as others get it: packed, and installed from the tarball in another place. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type ProgramRun, runToEnd } from '../support/run-program.ts'

const root = resolve(import.meta.dirname, '..', '..')

/** Without what npm tells the scripts of this package, and without what tap loads into every Node that its tests start. */
const foreign = Object.keys(process.env).filter(name => name.startsWith('npm_') || name === 'NODE_OPTIONS')

/** Stands before a command, which then runs as from a shell. */
export const asFromShell = ['env', ...foreign.flatMap(name => ['-u', name])] as [string, ...string[]]

export function runOutside(
  words: readonly string[],
  folder: string,
  environment: Record<string, string> = {},
): Promise<ProgramRun> {
  const [program, ...more] = [...asFromShell, ...words]
  return runToEnd(program ?? '', more, { folder, environment: { ...process.env, ...environment } })
}

/** Throws with what it printed where it fails. */
export async function npm(
  words: readonly string[],
  folder: string,
  environment: Record<string, string> = {},
): Promise<string> {
  const { status, stdout, stderr } = await runOutside(['npm', ...words], folder, environment)
  if (status !== 0) throw new Error(`npm ${words.join(' ')}: ${stdout}${stderr}`)
  return stdout
}

/** Returns the path of the tarball. */
export async function pack(folder: string): Promise<string> {
  const packed = JSON.parse(await npm(['pack', '--json', '--pack-destination', folder], root))
  // A list, or with a newer npm an object by package.
  const [{ filename }] = Object.values(packed) as [{ filename: string }]
  return join(folder, filename)
}

/** Makes the folder, and returns the path of the command `barograph` in it. */
export async function installPackage(
  tarball: string,
  folder: string,
  environment: Record<string, string> = {},
): Promise<string> {
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  await npm(['install', '--prefer-offline', '--no-audit', '--no-fund', '--omit=dev', tarball], folder, environment)
  return join(folder, 'node_modules', '.bin', 'barograph')
}
