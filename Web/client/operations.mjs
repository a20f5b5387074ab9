// What the module can be asked for: the numbers of Sources/SealWeb/Operation.swift.
import { stretching } from './stretching.mjs';

export const operations = {
    ...stretching, about: 1, forget: 2,
    newRecoveryKey: 64, readRecoveryKey: 65, mistypedGroups: 66, isRecoveryKey: 67, takePassphrase: 69,
    takePasskey: 70, passkeyInput: 71,
    newVisitor: 80, recoverRequest: 81, recoverAnswer: 82, device: 83, setDevice: 84, challengeRequest: 85, createRequest: 86,
    loginRequest: 87, sessionAnswer: 88, bundleRequest: 89, bundleAnswer: 90, identityRequest: 91, identityAnswer: 92,
    visit: 96, newcomerRequest: 97, placeRequest: 98, placeAnswer: 99, metadataRequest: 100, metadataAnswer: 101,
    metadataGoesOn: 102, preview: 103, standing: 104, acceptRequest: 105, codeRequest: 106, codeAnswer: 107, proofRequest: 108,
    proofAnswer: 109, failure: 110,
    enter: 128, comeBack: 129, rosterRequest: 130, rosterAnswer: 131, changesRequest: 132, changesAnswer: 133, records: 134,
    record: 135, lookupRequest: 136, startOver: 137, lookupAnswer: 138, shareRefresh: 139, leaveRequest: 140, news: 141,
    remember: 142,
    beginEdit: 144, newRecord: 145, refreshForEdit: 146, saveRequest: 147, deleteRequest: 148, editAnswer: 149, editCourse: 150,
    editRefused: 151, editShown: 152, renewEdit: 153,
    beginAsset: 160, assetLeaves: 161, openChunks: 162, beginUpload: 163, uploadState: 164, sealChunks: 165, endUpload: 166, partRoot: 167,
    newEnrolment: 176, enrolmentOpened: 177, enrolmentRequest: 178, enrolmentAnswer: 179, enrolledVisitor: 180,
};
