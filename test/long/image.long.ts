/**
 * The steps of deploy/Dockerfile in a Debian of debootstrap for each stage, and its container without Docker. The
 * health check passes and the databases store a reading. Needs root and debootstrap.
 */

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import t from 'tap'
import { freePort } from '../../store/process/free-port.ts'
import { copyImageContext } from '../support/image-context.ts'
import { until } from '../support/processes.ts'
import { basic } from '../support/service.ts'
import { copyDebian, type Debian, makeDebian } from './debian.ts'

const text = readFileSync(resolve(import.meta.dirname, '../../deploy/Dockerfile'), 'utf8')
const suite = /^ARG BASE_IMAGE=debian:(\w+)-slim$/m.exec(text)?.[1] ?? ''
const instructions = text
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll('\\\n', ' ')
  .split('\n')
  .filter(line => line !== '')
  .map(line => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)] as const)

const base = makeDebian(t, suite)
const stages = new Map<string, Debian>()

/** The state of a stage after its instructions. */
interface Image {
  debian: Debian
  folder: string
  environment: Record<string, string>
  /** Instructions for the container, by their word. */
  words: Map<string, string>
}

async function build(): Promise<Image> {
  let image: Image | undefined
  for (const [word, rest] of instructions) {
    if (word === 'ARG') continue
    if (word === 'FROM') {
      const debian = copyDebian(t, base)
      stages.set(/ AS (\w+)$/.exec(rest)?.[1] ?? '', debian)
      image = { debian, folder: '/', environment: {}, words: new Map() }
    } else if (image !== undefined) await take(image, word, rest)
  }
  if (image === undefined) throw new Error('the Dockerfile has no stage')
  return image
}

async function take(image: Image, word: string, rest: string): Promise<void> {
  const { debian, folder, environment, words } = image
  if (word === 'RUN') {
    const run = debian.start(folder, ['sh', '-c', rest], environment)
    t.equal(await run.ended, 0, `${rest.slice(0, 60)}: ${run.printed().slice(-2000)}`)
  } else if (word === 'WORKDIR') {
    image.folder = rest
    mkdirSync(join(debian.root, rest), { recursive: true })
  } else if (word === 'ENV') {
    for (const [, name = '', value = ''] of rest.matchAll(/(\w+)=(\S+)/g)) environment[name] = value
  } else if (word === 'COPY') copy(debian, folder, rest)
  else if (word === 'ADD') await add(debian, rest)
  else words.set(word, rest)
}

function copy(debian: Debian, folder: string, rest: string): void {
  const [, stage, source = '', target = ''] = /^--from=(\w+) (\S+) (\S+)$/.exec(rest) ?? []
  if (stage === undefined) copyImageContext(join(debian.root, folder))
  else execFileSync('cp', ['-a', join(stages.get(stage)?.root ?? '', source), join(debian.root, target)])
}

async function add(debian: Debian, rest: string): Promise<void> {
  const [, digest, mode = '', url = '', target = ''] =
    /^--checksum=sha256:(\w+) --chmod=(\d+) +(\S+) (\S+)$/.exec(rest) ?? []
  const bytes = new Uint8Array(await (await fetch(url)).arrayBuffer())
  t.equal(createHash('sha256').update(bytes).digest('hex'), digest, url)
  const path = join(debian.root, target)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, bytes)
  chmodSync(path, Number.parseInt(mode, 8))
}

t.test('the container of the image stores a reading in its own databases', async t => {
  const { debian, folder, environment, words } = await build()
  const [user = '', group = ''] = words.get('USER')?.split(':') ?? []
  const port = await freePort()
  const settings = { ...environment, HOME: folder, HOST: '127.0.0.1', PORT: String(port) }
  const start = (...program: string[]) => {
    const asUser = ['setpriv', '--reuid', user, '--regid', group, '--clear-groups']
    return debian.start(folder, [...asUser, ...program], settings)
  }
  const entry: string[] = JSON.parse(words.get('ENTRYPOINT') ?? '')
  const container = start(...entry, ...JSON.parse(words.get('CMD') ?? ''))
  const url = `http://127.0.0.1:${port}`
  const isReady = () =>
    fetch(`${url}/health/ready`).then(
      ({ status }) => status === 200,
      () => false,
    )
  await until('it is ready', async () => (await isReady()) || container.status() !== undefined)
  t.notOk(container.status(), container.printed())

  const [, check = ''] = /CMD (.*)$/.exec(words.get('HEALTHCHECK') ?? '') ?? []
  const checked = start('sh', '-c', check)
  t.equal(await checked.ended, 0, checked.printed())

  const added = start(...entry, 'devices', 'add', 'porch', '--json')
  t.equal(await added.ended, 0, added.printed())
  const { password } = JSON.parse(added.printed())
  const headers = { authorization: basic('porch', password), 'content-type': 'application/json' }
  const body = JSON.stringify({ device: 'porch', temperature: 21.4 })
  t.equal((await fetch(`${url}/api/log`, { method: 'PUT', headers, body })).status, 200)
  const isShown = async () => (await (await fetch(`${url}/api/latest/porch`)).text()).includes('21.4')
  await until('the reading is shown', isShown)
  container.kill('SIGTERM')
  t.equal(await container.ended, 0, 'a stop is orderly')
})
