// What a client does first: a token, a search, a vote, a vote as a job, and an upload. Prints a line for each check.
import {
    AttachmentsApi, Configuration, JobsApi, OAuthApi, PasswordGrantImpersonateAuthTypeEnum, PasswordGrantImpersonateGrantTypeEnum,
    ProposalsApi, RestFullApiJobDetail, SpacesApi,
} from "./client";

const JOB_MILLISECONDS = 30_000;
const POLL_MILLISECONDS = 100;

function setting(name: string): string {
    const value = process.env[name];
    if (value === undefined) throw new Error(`${name} is not set`);
    return value;
}

let failed = 0;

function check(what: string, holds: boolean): void {
    failed += holds ? 0 : 1;
    console.log(`${holds ? "ok    " : "FAILED"} ${what}`);
}

async function finished(jobs: JobsApi, id: string): Promise<RestFullApiJobDetail> {
    const end = Date.now() + JOB_MILLISECONDS;
    for (;;) {
        const job = await jobs.getJob({ id });
        if (!["pending", "processing"].includes(job.status) || Date.now() > end) return job;
        await new Promise((resolve) => setTimeout(resolve, POLL_MILLISECONDS));
    }
}

async function main(): Promise<void> {
    const basePath = setting("CIVITAS_TEST_URL") + "/api/rest_full/v0.3";
    const token = await new OAuthApi(new Configuration({ basePath })).createToken({
        oauthGrantParam: {
            grantType: PasswordGrantImpersonateGrantTypeEnum.Password,
            authType: PasswordGrantImpersonateAuthTypeEnum.Impersonate,
            clientId: "tests-full",
            clientSecret: setting("CIVITAS_TEST_SECRET"),
            username: "nora_blum",
            scope: "public proposals attachments",
        },
    });
    check("a token", token.tokenType === "Bearer" && token.accessToken.length > 0);

    const configuration = new Configuration({ basePath, accessToken: token.accessToken });
    const spaces = await new SpacesApi(configuration).searchSpaces({ perPage: 2 });
    check("a search", spaces.data.length === 2 && spaces.meta.hasMore);

    const api = new ProposalsApi(configuration);
    const componentId = Number(setting("CIVITAS_TEST_COMPONENT"));
    const [now, later] = (await api.listProposals({ componentId, perPage: 2 })).data.map(({ id }) => Number(id));
    if (now === undefined || later === undefined) throw new Error("there are no proposals");
    const weight = async (id: number) => (await api.getProposal({ id })).data.meta.voted?.weight;

    await api.castProposalVote({ voteProposalCreateBody: { proposalId: now, data: { weight: 1 } } });
    check("a vote", (await weight(now)) === 1);

    const body = { proposalId: later, data: { weight: 1 } };
    const accepted = await api.castProposalVoteAsync({ voteProposalCreateBody: body });
    const job = await finished(new JobsApi(configuration), accepted.jobId);
    check("a vote as a job", job.status === "completed" && (await weight(later)) === 1);

    const files = new AttachmentsApi(configuration);
    const bytes = new TextEncoder().encode("hello world\n");
    const announced = { filename: "note.txt", byteSize: bytes.length, checksum: "b1kCrCNwJL3QwXbLkwY9xA==" };
    const { signedId } = await files.attachmentsDirectUpload({ ...announced, contentType: "text/plain" });
    await files.uploadAttachmentBytes({ signedId, body: new Blob([bytes]), contentType: "text/plain; charset=utf-8" });
    check("an upload", true);
}

main().then(
    () => process.exit(failed > 0 ? 1 : 0),
    (error) => {
        console.log(error);
        process.exit(1);
    },
);
