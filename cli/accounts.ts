/** `barograph accounts`: manages the accounts of people. */

import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { Argument, type Command, Option } from 'commander'
import { roles } from '../auth/accounts/account.ts'
import { AccountDetails, AccountPage, AddedAccount } from '../auth/accounts/account-list.ts'
import { emailKeyOf } from '../auth/accounts/email-address.ts'
import type { AdminClient } from './admin-client.ts'
import { CommandError, exitUsage } from './command-error.ts'
import { printFields, printJson, printTable, printText, type Streams } from './output.ts'

interface Json {
  json?: boolean
}

export function addAccountsCommand(
  program: Command,
  client: AdminClient,
  streams: Streams & { stdin: Readable },
): void {
  const accounts = program.command('accounts').description('manage the accounts of people')
  addAdd(accounts, client, streams)
  addList(accounts, client, streams)
  addRole(accounts, client, streams)
  addSwitch(accounts, client, streams, { name: 'disable', isActive: false })
  addSwitch(accounts, client, streams, { name: 'enable', isActive: true })
}

const addHelp = `
Without --password-stdin it prints a link that sets the password. The link is valid for one hour and works once; give it
to nobody but that person.

Examples:
  barograph accounts add ada@example.com --name Ada
  barograph accounts add ada@example.com --role administrator --password-stdin < password.txt`

interface AddOptions extends Json {
  name?: string
  role?: string
  passwordStdin?: boolean
}

function addAdd(accounts: Command, client: AdminClient, streams: Streams & { stdin: Readable }): void {
  accounts
    .command('add')
    .description('add an account and print a link that sets its password')
    .argument('<email>')
    .option('--name <name>', 'name of the person')
    .addOption(new Option('--role <role>', 'role').choices(roles))
    .option('--password-stdin', 'read the password from standard input')
    .option('--json', 'print the account as JSON')
    .addHelpText('after', addHelp)
    .action(async (email: string, { name, role, passwordStdin, json }: AddOptions) => {
      const password = passwordStdin === true ? await readPassword(streams.stdin) : undefined
      const added = await client.json(AddedAccount, 'POST', '/accounts', {
        email,
        ...(name === undefined ? {} : { name }),
        ...(role === undefined ? {} : { role }),
        ...(password === undefined ? {} : { password }),
      })
      if (json === true) {
        printJson(streams, added)
        return
      }
      const { password_link, ...account } = added
      printFields(streams, account)
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
      else printTable(streams, [['id', 'e-mail', 'name', 'role', 'active', 'verified', 'tenant'], ...found.map(rowOf)])
    })
}

function rowOf({ id, email, name, role, is_active, email_verified, tenant_slug }: AccountDetails): string[] {
  const word = (truth: boolean) => (truth ? 'yes' : 'no')
  return [String(id), email, name ?? '-', role, word(is_active), word(email_verified !== null), tenant_slug ?? '-']
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
    .action(async (account: string, role: string, { json }: Json) => {
      const path = await pathOf(client, account)
      printAccount(streams, await client.json(AccountDetails, 'PATCH', path, { role }), json)
    })
}

const switchTexts = {
  disable: 'disable an account and end its sessions and API keys at once',
  enable: 'enable a disabled account',
}

function addSwitch(
  accounts: Command,
  client: AdminClient,
  streams: Streams,
  { name, isActive }: { name: keyof typeof switchTexts; isActive: boolean },
): void {
  accounts
    .command(name)
    .description(switchTexts[name])
    .argument('<account>', 'e-mail address or id')
    .option('--json', 'print the account as JSON')
    .addHelpText('after', `\nExample:\n  barograph accounts ${name} ada@example.com`)
    .action(async (account: string, { json }: Json) => {
      const path = await pathOf(client, account)
      printAccount(streams, await client.json(AccountDetails, 'PATCH', path, { is_active: isActive }), json)
    })
}

function printAccount(streams: Streams, account: AccountDetails, json: boolean | undefined): void {
  if (json === true) printJson(streams, account)
  else printFields(streams, account)
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
