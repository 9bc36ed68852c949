/**
 * A fresh Debian in a folder, made by debootstrap and entered by chroot, which both need root. It reaches the registries of
 * packages as this machine does: its certificates, proxies and the configuration of npm, apt and Maven are copied.
 */

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestHooks, temporaryFolder } from '../support/databases.ts'

export interface Debian {
  /** The root of its files. */
  root: string
  /** Starts a command in a folder of it. The signals that its `kill` sends reach the command itself. */
  start(folder: string, words: readonly string[], environment?: Record<string, string>): DebianRun
}

export interface DebianRun {
  /** What it has printed, both streams in the order in which they came. */
  printed(): string
  /** Undefined while it runs. */
  status(): number | undefined
  kill(signal: NodeJS.Signals): void
  /** Resolves with the exit status. */
  ended: Promise<number>
}

/** Names of the environment that say how the network is reached, whatever starts them. */
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

/** That of this machine, where it has one; else debootstrap takes the usual one. */
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
 * In namespaces of their own: when unshare is killed, nothing is left, neither processes nor mounts. The shell in between is
 * the first process there, which gets no signal that it does not ask for, and reaps the others.
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
  // By words, for tap adds to the environment of each process that a test starts.
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

/** The first process of a namespace also gets those that lose their parents, behind its own. */
function firstChild(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')[0])
}
