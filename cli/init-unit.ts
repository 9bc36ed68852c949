/** Installs deploy/barograph.service for this copy of the program, as the head of that file says. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Environment, findProgram, runProgram } from '../store/process/find-program.ts'
import { packageFolder } from '../store/version.ts'
import { CommandError, messageOf } from './command-error.ts'

export const unitDataDirectory = '/var/lib/barograph'

const user = 'barograph'
const systemd = '/etc/systemd/system'
const timeoutMs = 120_000

/** `SYSTEMD_UNIT_PATH` is read by systemctl, too. */
export async function installUnit(dataDirectory: string, environment: Environment): Promise<void> {
  const text = unitText(packageFolder(), dataDirectory)
  const run = async (name: string, ...words: string[]) => {
    const program = findProgram(name, environment)
    const { ok, output } = program
      ? await runProgram(program, words, { environment, timeoutMs })
      : { ok: false, output: 'not on PATH' }
    if (!ok) throw new CommandError(`${name} ${words.join(' ')}: ${output.trim()}`)
  }
  try {
    await run('id', user)
  } catch {
    await run('useradd', '--system', '--home-dir', unitDataDirectory, '--shell', '/usr/sbin/nologin', user)
  }
  await run('install', '-d', '-o', user, '-m', '711', dataDirectory)
  try {
    writeFileSync(join(environment['SYSTEMD_UNIT_PATH'] ?? systemd, `${user}.service`), text)
  } catch (error) {
    throw new CommandError(`the unit cannot be written; run as root: ${messageOf(error)}`)
  }
  await run('systemctl', 'daemon-reload')
  await run('systemctl', 'enable', '--now', user)
}

/** The unit in deploy/ is of a checkout in /opt/barograph. */
function unitText(program: string, dataDirectory: string): string {
  // ProtectHome hides these folders from the service.
  for (const folder of [program, dataDirectory]) {
    if (/^\/(?:home|root|run\/user)\//.test(`${folder}/`)) {
      throw new CommandError(`systemd hides ${folder} from the service; use a folder such as /opt/barograph`)
    }
    if (/[\s%$"'\\]/.test(folder)) throw new CommandError(`${folder} has characters that a unit does not take`)
  }
  return readFileSync(join(packageFolder(), 'deploy', 'barograph.service'), 'utf8')
    .replaceAll('/opt/barograph', program)
    .replace(`DATA_DIR=${unitDataDirectory}\nEnvironment`, `DATA_DIR=${dataDirectory}\nEnvironment`)
    .replace(/^ReadWritePaths=.*$/m, paths =>
      dataDirectory === unitDataDirectory ? paths : `${paths} ${dataDirectory}`,
    )
}
