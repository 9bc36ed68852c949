/** The lock of the database for a command beside which no service may run. */

import type { Config } from '../service/settings/config.ts'
import { type DatabaseLock, lockDatabase } from '../store/postgres/database-lock.ts'
import { makeClient } from '../store/postgres/postgres-connect.ts'
import { StartError } from '../store/start-error.ts'
import { CommandError } from './command-error.ts'

/** No node and no service that is alone. */
export async function lockAlone(
  { DATABASE_URL }: Pick<Config, 'DATABASE_URL'>,
  onLost: (error: Error) => void,
): Promise<DatabaseLock> {
  const ignore = () => undefined
  try {
    return await lockDatabase({
      makeClient: name => makeClient({ connectionString: DATABASE_URL, application_name: name }),
      mode: 'exclusive',
      onLost,
      log: { info: ignore, warn: ignore, error: ignore },
    })
  } catch (error) {
    if (error instanceof StartError) throw new CommandError(error.message)
    throw error
  }
}
