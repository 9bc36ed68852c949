/** The input of a build of the image: the files that .dockerignore leaves. */

import { cpSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..', '..')

export function copyImageContext(folder: string): void {
  const lines = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n')
  const left = lines.filter(line => /^\w/.test(line)).map(line => line.split('*')[0] ?? '')
  for (const path of lines.filter(line => line.startsWith('!')).map(line => line.slice(1)))
    cpSync(join(root, path), join(folder, path), {
      recursive: true,
      filter: source => !left.some(start => source.startsWith(join(root, start))),
    })
}
