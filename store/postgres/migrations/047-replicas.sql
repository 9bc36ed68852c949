-- There may be several replicas, known by their numbers. The state of a topic is kept for each of them: with the key "topic" for the
-- first one, "topic@number" for the others.

DELETE FROM replicas WHERE name <> 's1';
ALTER TABLE replicas ALTER COLUMN number DROP IDENTITY;
UPDATE replicas SET number = 1;
ALTER TABLE replicas DROP COLUMN name;
-- Why nothing is forwarded to it until it is a new copy of another one; null while it is in use.
ALTER TABLE replicas ADD COLUMN lost text;
-- When it was last compared with the first one in use, and in what it differs; null for nothing.
ALTER TABLE replicas ADD COLUMN compared_at timestamptz;
ALTER TABLE replicas ADD COLUMN differs text;

-- Whether QuestDB had no row when its first position was written: then all rows of the journal came by the journal.
ALTER TABLE applied_journals ADD COLUMN began_empty boolean NOT NULL DEFAULT false;
