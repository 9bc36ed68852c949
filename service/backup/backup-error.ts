/** A failed backup or restore. The message is one sentence for the operator. */
export class BackupError extends Error {
  override name = 'BackupError'
}
