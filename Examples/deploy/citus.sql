-- Distributes the tables of a SealKit server's database over the nodes of Citus (12 or later, PostgreSQL 15 or later).
--
-- Once, on the coordinator, after a server of this version has made the tables (serve it once, and stop it):
--
--     psql --set=ON_ERROR_STOP=1 --single-transaction --file=citus.sql "postgresql://sealkit@coordinator/sealkit"
--
-- A table is in one of three parts: by a number or a hash, a copy on every node, or on the coordinator. Rows with the same number are
-- on the same node, in whatever table: what an owner's zone has, and what a user sees or subscribes to. The server's tests compare this
-- list with the tables that there are, make of it a database of partitions, and look with PostgreSQL's own planner which of them each
-- statement touches. On Citus itself it has not been tried. The chapter on several nodes in PostgreSQL.md says what crosses, and why.

-- The bill is kept by triggers. They write to rows of the same number, or of the number of the account that pays, by way of a table that
-- is everywhere: but Citus cannot know that.
SET citus.enable_unsafe_triggers = on;

-- Unique keys have to have the number in them. Those that go are of random values, or of numbers that one sequence gives out.
ALTER TABLE operation DROP CONSTRAINT operation_pkey;
ALTER TABLE operation ADD PRIMARY KEY (account, number);
ALTER TABLE public_change DROP CONSTRAINT public_change_pkey;
ALTER TABLE public_change ADD PRIMARY KEY (zone_owner, position);
ALTER TABLE link DROP CONSTRAINT link_routing_key;
CREATE INDEX link_routing ON link (routing);
ALTER TABLE search_document DROP CONSTRAINT search_document_id_key;
CREATE INDEX search_document_id ON search_document (id);

-- A copy on every node: what few rows say to everybody, and what is found by more than one key.
SELECT create_reference_table('settings');
SELECT create_reference_table('server_run');
SELECT create_reference_table('account');
SELECT create_reference_table('identity');
-- Each request asks for the session's.
SELECT create_reference_table('device');
SELECT create_reference_table('management_token');
SELECT create_reference_table('public_database');
SELECT create_reference_table('server_key');
SELECT create_reference_table('schema_state');
SELECT create_reference_table('schema_field');
SELECT create_reference_table('schema_grant');
SELECT create_reference_table('schema_role');
SELECT create_reference_table('role_assignment');

-- By the number of the identity that owns the zone, or of the public database.
SELECT create_distributed_table('zone', 'owner', colocate_with => 'none');
SELECT create_distributed_table('zone_remains', 'owner', colocate_with => 'zone');
SELECT create_distributed_table('zone_run', 'owner', colocate_with => 'zone');
SELECT create_distributed_table('share', 'owner', colocate_with => 'zone');
SELECT create_distributed_table('roster_entry', 'owner', colocate_with => 'zone');
SELECT create_distributed_table('abandoned_entry', 'owner', colocate_with => 'zone');
SELECT create_distributed_table('restored_scope', 'owner', colocate_with => 'zone');
SELECT create_distributed_table('epoch_grant', 'owner', colocate_with => 'zone');
SELECT create_distributed_table('link', 'owner', colocate_with => 'zone');
SELECT create_distributed_table('placeholder_address', 'owner', colocate_with => 'zone');
SELECT create_distributed_table('sealed_link', 'owner', colocate_with => 'zone');
SELECT create_distributed_table('share_access', 'owner', colocate_with => 'zone');
SELECT create_distributed_table('access_request', 'owner', colocate_with => 'zone');
SELECT create_distributed_table('record', 'owner', colocate_with => 'zone');
SELECT create_distributed_table('departure', 'owner', colocate_with => 'zone');
SELECT create_distributed_table('unsettled_parent', 'owner', colocate_with => 'zone');
SELECT create_distributed_table('unsettled_share', 'owner', colocate_with => 'zone');
SELECT create_distributed_table('roots_below', 'owner', colocate_with => 'zone');
SELECT create_distributed_table('delete_reference', 'owner', colocate_with => 'zone');
SELECT create_distributed_table('taken_deletion', 'owner', colocate_with => 'zone');
SELECT create_distributed_table('taken_record', 'owner', colocate_with => 'zone');
SELECT create_distributed_table('blob', 'owner', colocate_with => 'zone');
SELECT create_distributed_table('asset_part', 'owner', colocate_with => 'zone');
SELECT create_distributed_table('record_index', 'owner', colocate_with => 'zone');
SELECT create_distributed_table('search_document', 'owner', colocate_with => 'zone');
SELECT create_distributed_table('public_change', 'zone_owner', colocate_with => 'zone');
SELECT create_distributed_table('zone_touch', 'owner', colocate_with => 'zone');

-- By the number of the identity that sees, or subscribes.
SELECT create_distributed_table('zone_view', 'viewer', colocate_with => 'zone');
SELECT create_distributed_table('share_view', 'viewer', colocate_with => 'zone');
SELECT create_distributed_table('view_run', 'viewer', colocate_with => 'zone');
SELECT create_distributed_table('database_feed', 'viewer', colocate_with => 'zone');
SELECT create_distributed_table('subscription', 'owner', colocate_with => 'zone');
SELECT create_distributed_table('notification_feed', 'owner', colocate_with => 'zone');
SELECT create_distributed_table('notification_run', 'owner', colocate_with => 'zone');
SELECT create_distributed_table('notification', 'owner', colocate_with => 'zone');
SELECT create_distributed_table('webhook', 'owner', colocate_with => 'zone');

-- By the number of the account.
SELECT create_distributed_table('account_deletion', 'account', colocate_with => 'zone');
SELECT create_distributed_table('operation', 'account', colocate_with => 'zone');
SELECT create_distributed_table('server_request', 'account', colocate_with => 'zone');
SELECT create_distributed_table('storage_usage', 'account', colocate_with => 'zone');

-- By what a caller knows before anybody knows which account that is: directories.
SELECT create_distributed_table('session', 'token_hash', colocate_with => 'none');
SELECT create_distributed_table('login_key', 'public_key', colocate_with => 'none');
SELECT create_distributed_table('recovery_bundle', 'recovery_id', colocate_with => 'none');
SELECT create_distributed_table('linked_address', 'address_hash', colocate_with => 'none');
SELECT create_distributed_table('enrolment', 'id', colocate_with => 'none');
SELECT create_distributed_table('verification', 'id', colocate_with => 'none');
SELECT create_distributed_table('spent_token', 'token_id', colocate_with => 'none');
SELECT create_distributed_table('spent_challenge', 'challenge', colocate_with => 'none');
SELECT create_distributed_table('shared_limit', 'subject', colocate_with => 'none');

-- On the coordinator, where the tables are already.
-- coordinator: migrations: read at a start
-- coordinator: shard_number: one row a shard, from which new accounts and identities get their numbers
-- coordinator: schema_field_id: one row, from which new fields get theirs
-- coordinator: job: who does what is one row a job
-- coordinator: index_build: how far a job came
-- coordinator: blob_garbage: files that a job deletes
-- coordinator: outgoing_message: codes that a job sends, gone within minutes
-- coordinator: verification_sent: what was sent in the last hours, counted by several keys
-- coordinator: registration_code: the operator's
-- coordinator: log_query: the operator's
-- coordinator: alert: the operator's
-- coordinator: alert_change: the operator's
-- coordinator: alert_message: the operator's
-- coordinator: management_event: the operator's, in the order of one number
