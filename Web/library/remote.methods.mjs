// What a page may ask of the worker that a container runs in: no other member, and none that is inherited.
const records = ['fetchRecords', 'performQuery', 'saveRecords', 'deleteRecords'];
const zones = [
    'fetchDatabaseChanges', 'fetchAllRecordZones', 'fetchRecordZones', 'saveRecordZones', 'deleteRecordZones', 'fetchRecordZoneChanges', 'readAsset',
    'saveSubscriptions', 'deleteSubscriptions', 'fetchAllSubscriptions',
];

/**
 * An answer on its way between the page and its worker.
 * @param {any} answer
 * @param {(one: any) => any} record as it goes
 * @param {(one: any) => any} failure as it goes
 * @returns {any}
 */
export function carried(answer, record, failure) {
    if (!Array.isArray(answer?.errors)) return answer;
    const made = { ...answer, errors: answer.errors.map(failure), ...answer.records && { records: answer.records.map(record) } };
    // What is said of one zone is said twice, and goes once.
    const isSame = (/** @type {any} */ zone) => zone.records !== undefined && zone.records === answer.records;
    if (answer.zones) made.zones = answer.zones.map((/** @type {any} */ zone) => isSame(zone) ? { ...zone, errors: made.errors, records: made.records } : carried(zone, record, failure));
    return made;
}

export const methods = {
    container: [
        'setUpAuth', 'fetchCurrentUserIdentity', 'newRecoveryKey', 'passkeyInput', 'createAccount', 'signIn', 'enrol', 'signOut', 'fetchRecordInfos', 'acceptShares', 'forgetVerified',
        'discoverUserIdentityWithEmailAddress', 'discoverUserIdentityWithPhoneNumber', 'discoverUserIdentityWithUserRecordName', 'share',
        'registerForNotifications', 'unregisterForNotifications',
    ],
    privateCloudDatabase: [...zones, ...records],
    sharedCloudDatabase: [...zones, ...records],
    publicCloudDatabase: [...records, 'readAsset'],
    share: ['refresh', 'describe', 'invite', 'lookUp', 'setParticipant', 'removeParticipant', 'setPublicPermission', 'stop', 'leave'],
};
