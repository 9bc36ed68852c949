/** `barograph accounts`: manages the accounts of people. */

import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { Argument, type Command, Option } from 'commander'
import { AccountDetails, AccountPage, AddedAccount } from '../auth/accounts/account-details.ts'
import { emailKeyOf } from '../auth/accounts/email-address.ts'
import { roles } from '../auth/accounts/role.ts'
import type { AdminClient } from './admin-client.ts'
import type { CommandContext } from './command-context.ts'
import { CommandError, exitUsage } from './command-error.ts'
import { addInvitationCommands } from './invitations.ts'
import { printFields, printJson, printTable, printText, type Streams } from './output.ts'

interface Json {
  json?: boolean
}

export function defineAccounts(accounts: Command, { client, streams }: CommandContext): void {
  addAdd(accounts, client, streams)
  addInvitationCommands(accounts, client, streams)
  addList(accounts, client, streams)
  addRole(accounts, client, streams)
  addViewer(accounts, client, streams)
  addChange(accounts, client, streams, 'verify')
  addChange(accounts, client, streams, 'disable')
  addChange(accounts, client, streams, 'enable')
}

const addHelp = `
Without --password-stdin it prints a link that sets the password. The link is valid for one hour and works once; give it
to that person only.

Examples:
  barograph accounts add ada@example.com --name Ada
  barograph accounts add ada@example.com --role administrator --password-stdin < password.txt`

interface AddOptions extends Json {
  name?: string
  role?: string
  viewer?: boolean
  verified?: boolean
  passwordStdin?: boolean
}

function addAdd(accounts: Command, client: AdminClient, streams: Streams & { stdin: Readable }): void {
  accounts
    .command('add')
    .description('add an account and print a link that sets its password')
    .argument('<email>')
    .option('--name <name>', 'name of the person')
    .addOption(new Option('--role <role>', 'role').choices(roles))
    .option('--viewer', 'let it read all devices where reads are private')
    .option('--verified', 'answer for the address, as API keys that send readings need it')
    .option('--password-stdin', 'read the password from standard input')
    .option('--json', 'print the account as JSON')
    .addHelpText('after', addHelp)
    .action(async (email: string, { name, role, viewer, verified, passwordStdin, json }: AddOptions) => {
      const password = passwordStdin === true ? await readPassword(streams.stdin) : undefined
      // JSON leaves out what is undefined.
      const account = { email, name, role, viewer, email_verified: verified, password }
      const added = await client.json(AddedAccount, 'POST', '/accounts', account)
      if (json === true) {
        printJson(streams, added)
        return
      }
      const { password_link, ...details } = added
      printFields(streams, details)
      if (password_link === null) return
      printText(streams.stdout, `\nLink that sets the password, valid for one hour, once:\n${password_link}\n`)
    })
}

/** Never an argument of the command: those are seen by every user of the machine. */
async function readPassword(stdin: Readable & { isTTY?: boolean }): Promise<string> {
  if (stdin.isTTY === true)
    throw new CommandError('--password-stdin needs the password from a file or a pipe', exitUsage)
  const password = (await text(stdin)).replace(/\r?\n$/, '')
  if (password === '') throw new CommandError('standard input contains no password', exitUsage)
  return password
}

function addList(accounts: Command, client: AdminClient, streams: Streams): void {
  accounts
    .command('list')
    .description('list accounts')
    .option('--search <text>', 'only accounts whose e-mail address or name contains this text (case-insensitive)')
    .option('--json', 'print as JSON')
    .addHelpText('after', '\nExamples:\n  barograph accounts list\n  barograph accounts list --search ada --json')
    .action(async ({ search, json }: { search?: string } & Json) => {
      const found = await readAll(client, search ?? '')
      if (json === true) printJson(streams, found)
      else if (found.length === 0) printText(streams.stdout, 'no accounts\n')
      else printTable(streams, [columns, ...found.map(rowOf)])
    })
}

const columns = ['id', 'e-mail', 'name', 'role', 'viewer', 'active', 'verified', 'tenant']

function rowOf(account: AccountDetails): string[] {
  const { id, email, name, role, viewer, is_active, email_verified, tenant_slug } = account
  const word = (truth: boolean) => (truth ? 'yes' : 'no')
  const states = [viewer, is_active, email_verified !== null].map(word)
  return [String(id), email, name ?? '-', role, ...states, tenant_slug ?? '-']
}

async function readAll(client: AdminClient, search: string): Promise<AccountDetails[]> {
  const found: AccountDetails[] = []
  for (let page: number | null = 1; page !== null; ) {
    const query = new URLSearchParams({ search, page: String(page) })
    const answer: AccountPage = await client.json(AccountPage, 'GET', `/accounts?${query}`)
    found.push(...answer.accounts)
    page = answer.next
  }
  return found
}

const roleHelp = `
There is exactly one operator: giving the role to another account makes the previous operator an administrator.

Examples:
  barograph accounts role ada@example.com administrator
  barograph accounts role 7 operator`

function addRole(accounts: Command, client: AdminClient, streams: Streams): void {
  accounts
    .command('role')
    .description('change the role of an account')
    .argument('<account>', 'e-mail address or id')
    .addArgument(new Argument('<role>').choices(roles))
    .option('--json', 'print the account as JSON')
    .addHelpText('after', roleHelp)
    .action((account: string, role: string, { json }: Json) => change(client, streams, { account, to: { role }, json }))
}

const viewerHelp = `
With READS=private, a viewer reads all devices, as administrators do. Anybody else reads the devices that they own:
see devices set --owner.

Examples:
  barograph accounts viewer ada@example.com on
  barograph accounts viewer 7 off`

function addViewer(accounts: Command, client: AdminClient, streams: Streams): void {
  accounts
    .command('viewer')
    .description('let an account read all devices where reads are private, or no longer')
    .argument('<account>', 'e-mail address or id')
    .addArgument(new Argument('<state>').choices(['on', 'off']))
    .option('--json', 'print the account as JSON')
    .addHelpText('after', viewerHelp)
    .action((account: string, state: string, { json }: Json) => {
      return change(client, streams, { account, to: { viewer: state === 'on' }, json })
    })
}

const changes = {
  verify: {
    text: 'answer for the e-mail address of an account: API keys that send readings need a verified one',
    to: { email_verified: true },
  },
  disable: { text: 'disable an account and end its sessions and API keys at once', to: { is_active: false } },
  enable: { text: 'enable a disabled account', to: { is_active: true } },
}

function addChange(accounts: Command, client: AdminClient, streams: Streams, name: keyof typeof changes): void {
  const { text, to } = changes[name]
  accounts
    .command(name)
    .description(text)
    .argument('<account>', 'e-mail address or id')
    .option('--json', 'print the account as JSON')
    .addHelpText('after', `\nExample:\n  barograph accounts ${name} ada@example.com`)
    .action((account: string, { json }: Json) => change(client, streams, { account, to, json }))
}

interface Change {
  /** An address or an id. */
  account: string
  to: object
  json: boolean | undefined
}

async function change(client: AdminClient, streams: Streams, { account, to, json }: Change): Promise<void> {
  const changed = await client.json(AccountDetails, 'PATCH', await pathOf(client, account), to)
  if (json === true) printJson(streams, changed)
  else printFields(streams, changed)
}

/** All digits are an id. An address is that of an ordinary account: those of tenants need not be unique. */
async function pathOf(client: AdminClient, account: string): Promise<string> {
  if (/^\d+$/.test(account)) return `/accounts/${account}`
  const key = emailKeyOf(account)
  const found = (await readAll(client, key)).find(({ email, tenant_slug }) => {
    return tenant_slug === null && emailKeyOf(email) === key
  })
  if (found === undefined) throw new CommandError(`no account has the address ${account}`)
  return `/accounts/${found.id}`
}
