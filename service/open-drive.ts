/** Creates the client of the file drive from the settings. */

import type { Drive } from '../api/accounts/drive/drive.ts'
import { createDriveStates, type DriveClient } from '../api/accounts/drive/drive-client.ts'
import type { DataDirectory } from '../store/data-directory.ts'
import type { Clock } from './clock.ts'
import type { Config } from './settings/config.ts'

export function openDrive(config: Config, directory: DataDirectory, nowMs: Clock): Drive {
  const name = config.DRIVE_NAME
  return {
    name,
    client: driveClientOf(config),
    states: createDriveStates(directory.secret('state-secret'), name, nowMs),
  }
}

/** Its settings are complete or absent. */
function driveClientOf(config: Config): DriveClient | undefined {
  const { DRIVE_CLIENT_ID: clientId, DRIVE_CLIENT_SECRET: clientSecret, DRIVE_SCOPE: scope } = config
  const {
    DRIVE_AUTHORIZATION_URL: authorizationUrl,
    DRIVE_TOKEN_URL: tokenUrl,
    DRIVE_OPENER_ORIGIN: openerOrigin,
  } = config
  if (clientId === undefined || clientSecret === undefined || authorizationUrl === undefined) return undefined
  if (tokenUrl === undefined || openerOrigin === undefined) return undefined
  return { clientId, clientSecret, authorizationUrl, tokenUrl, scope, openerOrigin }
}
