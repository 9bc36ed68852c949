/**
 * A fresh Debian in a folder, created by debootstrap and entered by chroot, both as root. This machine's certificates, proxies and
 * configuration of npm, apt and Maven are copied, for access to registries.
 */

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestHooks, temporaryFolder } from '../support/databases.ts'

export interface Debian {
  root: string
  /** Starts a command in one of its folders. `kill` signals the command itself. */
  start(folder: string, words: readonly string[], environment?: Record<string, string>): DebianRun
}

export interface DebianRun {
  /** Both output streams in the order of arrival. */
  printed(): string
  /** Undefined while the command runs. */
  status(): number | undefined
  kill(signal: NodeJS.Signals): void
  ended: Promise<number>
}

/** Variables that configure network access. */
const networkVariable =
  /^(?:(?:https?|ftp|all|no)_proxy|ssl_cert_(?:file|dir)|node_extra_ca_certs|maven_(?:opts|args)|npm_config_(?:registry|cafile|https?_proxy|proxy))$/i

const system = { HOME: '/root', LANG: 'C.UTF-8', PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' }

/** `suite` is the name of a release, such as bookworm. */
export function makeDebian(t: TestHooks, suite: string): Debian {
  const root = join(temporaryFolder(t), 'root')
  execFileSync('debootstrap', ['--variant=minbase', suite, root, ...mirror()], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  copyNetworkSettings(root)
  return debianIn(t, root)
}

/** Copies the files, so that later changes are separate. */
export function copyDebian(t: TestHooks, { root }: Debian): Debian {
  const copy = join(temporaryFolder(t), 'root')
  execFileSync('cp', ['-a', root, copy])
  return debianIn(t, copy)
}

function debianIn(t: TestHooks, root: string): Debian {
  const network = Object.entries(process.env).filter(([name]) => networkVariable.test(name))
  return {
    root,
    start(folder, words, environment = {}) {
      const run = startIn(root, folder, words, { ...Object.fromEntries(network), ...system, ...environment })
      t.teardown(run.close)
      return run
    },
  }
}

/** The mirror of this machine, if it has one. Otherwise debootstrap uses its default. */
function mirror(): string[] {
  const codename = /^VERSION_CODENAME=(.+)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1]
  const words = ['indextargets', '--format', '$(RELEASE) $(SITE)', 'Created-By: Packages', 'Component: main']
  const lines = execFileSync('apt-get', words, { encoding: 'utf8' }).split('\n')
  const sites = new Map(lines.map(line => line.split(' ') as [string, string]))
  return [sites.get(codename ?? '') ?? []].flat()
}

function copyNetworkSettings(root: string): void {
  const certificates = '/usr/local/share/ca-certificates'
  const named = ['SSL_CERT_FILE', 'NODE_EXTRA_CA_CERTS'].map(name => process.env[name] ?? '')
  const mavenSettings = join(homedir(), '.m2', 'settings.xml')
  for (const path of ['/etc/resolv.conf', '/etc/hosts', certificates, ...named]) copyInto(root, path, path)
  copyInto(root, mavenSettings, join('/', 'root', '.m2', 'settings.xml'))
  const npmSettings = ['globalconfig', 'userconfig'].map(npmSettingsOf)
  writeFileSync(join(root, 'root', '.npmrc'), npmSettings.join('\n'))
  const apt = execFileSync('apt-config', ['dump', '--no-empty', 'Acquire'], { encoding: 'utf8' })
  const proxies = apt.split('\n').filter(line => /^Acquire::[a-z]+::Proxy/i.test(line))
  writeFileSync(join(root, 'etc', 'apt', 'apt.conf.d', '99proxies'), `${proxies.join('\n')}\n`)
}

function npmSettingsOf(name: string): string {
  const path = execFileSync('npm', ['config', 'get', name], { encoding: 'utf8' }).trim()
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}

function copyInto(root: string, from: string, to: string): void {
  if (from === '' || !existsSync(from)) return
  mkdirSync(dirname(join(root, to)), { recursive: true })
  cpSync(from, join(root, to), { recursive: true, dereference: true })
}

/**
 * Separate namespaces end with unshare, including processes and mounts. The shell is their first process: it gets only the signals
 * that it traps, and reaps the others.
 */
const enter = `
root=$1 folder=$2
shift 2
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount --rbind /dev "$root/dev"
chroot "$root" sh -c 'cd "$0" && exec "$@"' "$folder" "$@"
exit $?`

function startIn(root: string, folder: string, words: readonly string[], environment: Record<string, string>) {
  const flags = ['--mount', '--pid', '--fork', '--kill-child']
  // Passed as arguments, since tap adds to the environment of each process started by a test.
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
  const shell = ['env', '-i', ...variables, 'sh', '-ec', enter, 'sh', root, folder]
  const child = spawn('unshare', [...flags, ...shell, ...words], { stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (printed += text.toString()))
  const ended = once(child, 'close').then(([status]) => Number(status))
  return {
    printed: () => printed,
    status: () => child.exitCode ?? undefined,
    kill: (signal: NodeJS.Signals) => process.kill(firstChild(firstChild(child.pid ?? 0)), signal),
    ended,
    async close() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** The first process of a namespace also adopts orphans, after its child. */
function firstChild(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')[0])
}
