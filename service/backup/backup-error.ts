/** A backup or a restore that cannot be made: its message is one sentence for the operator. */
export class BackupError extends Error {
  override name = 'BackupError'
}
