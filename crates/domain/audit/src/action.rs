//! What was done.

/// Declares the actions with their stable names.
macro_rules! actions {
    ($($name:literal => $action:ident: $doc:literal,)+) => {
        /// What was done. The names are stable: programs may compare them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Action {
            $(#[doc = $doc] $action,)+
        }

        civitas_kernel::named_enum! { Action { $($action = $name),+ } }
    };
}

actions! {
    "api_client.created" => ApiClientCreated: "An API client was created.",
    "api_client.updated" => ApiClientUpdated: "The name of an API client was changed.",
    "api_client.permissions_replaced" => ApiClientPermissionsReplaced: "All permissions of an API client were replaced.",
    "api_client.permissions_granted" => ApiClientPermissionsGranted: "An API client got permissions.",
    "api_client.permissions_revoked" => ApiClientPermissionsRevoked: "An API client lost permissions.",
    "api_client.secret_rotated" => ApiClientSecretRotated: "An API client got a new secret.",
    "api_client.revoked" => ApiClientRevoked: "An API client was removed with its tokens.",
    "webhook_registration.created" => WebhookRegistrationCreated: "A webhook registration was created.",
    "webhook_registration.updated" => WebhookRegistrationUpdated: "A webhook registration was changed.",
    "webhook_registration.deleted" => WebhookRegistrationDeleted: "A webhook registration was removed.",
    "webhook_registration.paused" => WebhookRegistrationPaused: "A webhook registration was paused.",
    "webhook_registration.resumed" => WebhookRegistrationResumed: "A paused or disabled webhook registration was resumed.",
    "webhook_registration.tested" => WebhookRegistrationTested: "A test was sent to a webhook registration.",
    "webhook_delivery.replayed" => WebhookDeliveryReplayed: "Webhook deliveries were sent again.",
    "organization.created" => OrganizationCreated: "An organization was created.",
    "organization.updated" => OrganizationUpdated: "Settings of an organization were changed.",
    "organization.deleted" => OrganizationDeleted: "An organization was deleted with everything in it.",
    "organization.host_check_started" => OrganizationHostCheckStarted: "The check of a pending host was started.",
    "administrator.created" => AdministratorCreated: "A system administrator was created.",
    "administrator.updated" => AdministratorUpdated: "A system administrator was changed.",
    "administrator.password_changed" => AdministratorPasswordChanged: "A system administrator got a new password.",
    "administrator.deleted" => AdministratorDeleted: "A system administrator was removed.",
    "administrator.locked" => AdministratorLocked: "A system administrator was locked after failed sign-ins.",
    "administrator.unlocked" => AdministratorUnlocked: "A system administrator was unlocked.",
    "administrator.second_factor_enabled" => AdministratorSecondFactorEnabled: "A second factor was enabled.",
    "administrator.second_factor_disabled" => AdministratorSecondFactorDisabled: "A second factor was disabled.",
    "sign_in.succeeded" => SignInSucceeded: "A system administrator signed in.",
    "sign_in.refused" => SignInRefused: "A sign-in to the panel was refused.",
    "sign_in.locked" => SignInLocked: "A sign-in to the panel was refused because its source is refused.",
    "sign_out" => SignOut: "A system administrator signed out.",
    "credentials.refused" => CredentialsRefused: "The secret of a client or the password of a user was refused.",
    "key.rotated" => KeyRotated: "The secret key of the deployment was rotated.",
    "key.reencrypted" => SecretsReencrypted: "Stored secrets were encrypted with the first secret key.",
    "secret.shown" => SecretShown: "A secret was shown.",
    "role.created" => RoleCreated: "A role was given.",
    "role.updated" => RoleUpdated: "A role was changed.",
    "role.deleted" => RoleDeleted: "A role was taken.",
    "user.created" => UserCreated: "An account was created.",
    "user.updated" => UserUpdated: "An account was changed.",
    "user.deleted" => UserDeleted: "An account was deleted.",
    "user.confirmed" => UserConfirmed: "The address of an account was confirmed.",
    "user.blocked" => UserBlocked: "An account was blocked.",
    "user.unblocked" => UserUnblocked: "An account was unblocked.",
    "user.locked" => UserLocked: "An account was locked.",
    "user.unlocked" => UserUnlocked: "An account was unlocked.",
    "user.impersonated" => UserImpersonated: "An API client got a token of a general administrator without a password.",
    "magic_link.created" => MagicLinkCreated: "A link was made that signs a general administrator in.",
    "space.created" => SpaceCreated: "A space was created.",
    "space.updated" => SpaceUpdated: "A space was changed.",
    "space.deleted" => SpaceDeleted: "A space was deleted.",
    "step.created" => StepCreated: "A step was created.",
    "step.updated" => StepUpdated: "A step was changed.",
    "step.activated" => StepActivated: "A step became the active one.",
    "step.deleted" => StepDeleted: "A step was deleted.",
    "component.created" => ComponentCreated: "A component was created.",
    "component.updated" => ComponentUpdated: "A component was changed.",
    "component.deleted" => ComponentDeleted: "A component was deleted.",
    "proposal.created" => ProposalCreated: "A proposal was created.",
    "proposal.updated" => ProposalUpdated: "A proposal was changed.",
    "proposal.published" => ProposalPublished: "A proposal was published.",
    "proposal.answered" => ProposalAnswered: "A proposal was answered.",
    "proposal.hidden" => ProposalHidden: "A proposal was hidden.",
    "proposal.shown" => ProposalShown: "A hidden proposal was shown again.",
    "proposal.withdrawn" => ProposalWithdrawn: "A proposal was withdrawn.",
    "proposal.deleted" => ProposalDeleted: "A proposal was deleted.",
    "proposal_state.created" => ProposalStateCreated: "A state of proposals was created.",
    "proposal_state.updated" => ProposalStateUpdated: "A state of proposals was changed.",
    "meeting.created" => MeetingCreated: "A meeting was created.",
    "meeting.updated" => MeetingUpdated: "A meeting was changed.",
    "meeting.deleted" => MeetingDeleted: "A meeting was deleted.",
    "post.created" => PostCreated: "A post was created.",
    "post.updated" => PostUpdated: "A post was changed.",
    "post.deleted" => PostDeleted: "A post was deleted.",
    "survey.created" => SurveyCreated: "A survey was created.",
    "survey.updated" => SurveyUpdated: "A survey or its questions were changed.",
    "survey.deleted" => SurveyDeleted: "A survey was deleted.",
    "response.deleted" => ResponseDeleted: "A response to a survey was deleted.",
    "responses.exported" => ResponsesExported: "Responses to a survey were exported.",
    "attachment.created" => AttachmentCreated: "An attachment was added.",
    "attachment.updated" => AttachmentUpdated: "An attachment was changed.",
    "attachment.deleted" => AttachmentDeleted: "An attachment was deleted.",
    "extended_data.updated" => ExtendedDataUpdated: "Extended data of a record was changed.",
    "job.deleted" => JobDeleted: "A job was deleted.",
    "mails.retried" => MailsRetried: "Mails that could not be sent were tried again at once.",
    "archive.imported" => ArchiveImported: "An archive was imported.",
    "archive.exported" => ArchiveExported: "An archive was exported.",
    "backup.made" => BackupMade: "A backup was made.",
    "backup.restored" => BackupRestored: "The database was restored from a backup.",
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_action_has_its_own_name() {
        let names: HashSet<_> = Action::ALL.iter().map(|action| action.as_str()).collect();
        assert_eq!(names.len(), Action::ALL.len());
        for action in Action::ALL {
            assert_eq!(Action::parse(action.as_str()), Some(action));
        }
        assert_eq!(Action::parse("sign_in"), None);
    }
}
