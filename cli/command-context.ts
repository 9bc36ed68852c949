/** The context of commands: the server, the streams, the settings. */

import type { Readable } from 'node:stream'
import type { Command } from 'commander'
import { type Config, ConfigError, readConfig } from '../service/settings/config.ts'
import { type AdminClient, createAdminClient } from './admin-client.ts'
import { CommandError } from './command-error.ts'
import { findServer, type ServerOptions } from './find-server.ts'

/** Streams and environment of the process, or of a test. */
export interface Surroundings {
  stdin: Readable
  stdout: NodeJS.WriteStream
  stderr: NodeJS.WriteStream
  environment: Record<string, string | undefined>
}

export interface CommandContext {
  client: AdminClient
  /** The same client for paths below `/api` outside of the admin API. */
  apiClient: AdminClient
  streams: Pick<Surroundings, 'stdin' | 'stdout' | 'stderr'>
  environment: Surroundings['environment']
  serverOptions: () => ServerOptions
  readSettings: () => Config
}

/** Adds the arguments, the options and the action of a command, or the commands of a group. */
export type Define = (command: Command, context: CommandContext) => void

export function createCommandContext(surroundings: Surroundings, serverOptions: () => ServerOptions): CommandContext {
  const { stdin, stdout, stderr, environment } = surroundings
  const readSettings = () => settingsFrom(environment)
  const server = () => findServer(serverOptions(), readSettings)
  const client = createAdminClient(server)
  const apiClient = createAdminClient(server, '/api')
  return { client, apiClient, streams: { stdin, stdout, stderr }, environment, serverOptions, readSettings }
}

function settingsFrom(environment: Surroundings['environment']): Config {
  try {
    return readConfig(environment)
  } catch (error) {
    if (error instanceof ConfigError) throw new CommandError(error.message)
    throw error
  }
}

/** Ctrl-C in the middle of a long command. */
interface Interrupt {
  signal: AbortSignal
  stop(): void
}

/** The first Ctrl-C ends the command behind the batch that is under way. The second one is left to the system. */
export function createInterrupt(): Interrupt {
  const controller = new AbortController()
  const abort = () => controller.abort()
  process.once('SIGINT', abort)
  return { signal: controller.signal, stop: () => process.off('SIGINT', abort) }
}
