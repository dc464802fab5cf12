//! The texts of the mails. `{name}` is the receiver, `{organization}` the sender; the link is between opening and
//! closing, on a separate line.

use super::MailKind;
use civitas_kernel::Locale;

/// The texts of one mail in one language.
pub(super) struct MailTexts {
    pub(super) subject: &'static str,
    pub(super) opening: &'static str,
    pub(super) closing: &'static str,
}

/// The texts of this mail in this language; in English if it is none of [`Locale::TRANSLATED_LOCALES`].
pub(super) fn mail_texts(mail: MailKind, locale: Locale) -> MailTexts {
    match mail {
        MailKind::Confirmation => confirmation(locale),
        MailKind::Welcome => welcome(locale),
        MailKind::Invitation => invitation(locale),
    }
}

fn confirmation(locale: Locale) -> MailTexts {
    match locale {
        Locale::FR => MailTexts {
            subject: "Confirmez votre adresse e-mail pour {organization}",
            opening: "Bonjour {name},\n\n\
                      un compte a été créé pour vous sur {organization}. Ouvrez ce lien dans les trois jours\n\
                      pour confirmer votre adresse e-mail :\n\n",
            closing: "\n\nSi vous n'attendiez pas ce message, vous n'avez rien à faire.\n\n{organization}\n",
        },
        Locale::ES => MailTexts {
            subject: "Confirme su dirección de correo electrónico para {organization}",
            opening: "Hola, {name}:\n\n\
                      Se ha creado una cuenta para usted en {organization}. Abra este enlace en un plazo de\n\
                      tres días para confirmar su dirección de correo electrónico:\n\n",
            closing: "\n\nSi no esperaba este mensaje, no tiene que hacer nada.\n\n{organization}\n",
        },
        _ => MailTexts {
            subject: "Confirm your e-mail address for {organization}",
            opening: "Hello {name},\n\n\
                      an account was created for you on {organization}. Open this link within three days to\n\
                      confirm your e-mail address:\n\n",
            closing: "\n\nIf you did not expect this message, you need not do anything.\n\n{organization}\n",
        },
    }
}

fn welcome(locale: Locale) -> MailTexts {
    match locale {
        Locale::FR => MailTexts {
            subject: "Bienvenue sur {organization}",
            opening: "Bonjour {name},\n\n\
                      votre compte est confirmé. Bienvenue sur {organization} ! C'est ici que l'on propose, que l'on\n\
                      discute et que l'on décide :\n\n",
            closing: "\n\nNous nous réjouissons de découvrir vos idées.\n\n{organization}\n",
        },
        Locale::ES => MailTexts {
            subject: "Le damos la bienvenida a {organization}",
            opening: "Hola, {name}:\n\n\
                      Su cuenta está confirmada. ¡Le damos la bienvenida a {organization}! Aquí se propone, se debate\n\
                      y se decide:\n\n",
            closing: "\n\nEsperamos sus ideas.\n\n{organization}\n",
        },
        _ => MailTexts {
            subject: "Welcome to {organization}",
            opening: "Hello {name},\n\n\
                      your account is confirmed. Welcome to {organization}! This is where people propose, discuss\n\
                      and decide:\n\n",
            closing: "\n\nWe look forward to your ideas.\n\n{organization}\n",
        },
    }
}

fn invitation(locale: Locale) -> MailTexts {
    match locale {
        Locale::FR => MailTexts {
            subject: "Vous êtes invité sur {organization}",
            opening: "Bonjour {name},\n\n\
                      vous êtes invité à participer à un espace de {organization}, avec un rôle qui vous est\n\
                      propre :\n\n",
            closing: "\n\nSi vous n'attendiez pas ce message, vous n'avez rien à faire.\n\n{organization}\n",
        },
        Locale::ES => MailTexts {
            subject: "Ha recibido una invitación a {organization}",
            opening: "Hola, {name}:\n\n\
                      Se le invita a participar en un espacio de {organization}, con una función propia:\n\n",
            closing: "\n\nSi no esperaba este mensaje, no tiene que hacer nada.\n\n{organization}\n",
        },
        _ => MailTexts {
            subject: "You are invited to {organization}",
            opening: "Hello {name},\n\n\
                      you are invited to take part in a space of {organization}, in a role of your own:\n\n",
            closing: "\n\nIf you did not expect this message, you need not do anything.\n\n{organization}\n",
        },
    }
}

/// The notice of refused sign-ins, which has neither a link nor an organization.
pub(super) fn sign_in_notice(locale: Locale) -> MailTexts {
    match locale {
        Locale::FR => MailTexts {
            subject: "Connexions refusées à votre compte d'administration",
            opening: "Bonjour {name},\n\n\
                      trop de connexions à votre compte d'administration ont échoué : leurs adresses sont refusées\n\
                      pendant une heure. Vous pouvez toujours vous connecter de là où vous l'avez déjà fait.\n\n",
            closing: "Si ce n'était pas vous, ouvrez le panneau à l'adresse que vous utilisez, changez de mot de passe\n\
                      et activez le second facteur.\n",
        },
        Locale::ES => MailTexts {
            subject: "Inicios de sesión rechazados en su cuenta de administración",
            opening: "Hola, {name}:\n\n\
                      Han fallado demasiados inicios de sesión en su cuenta de administración: sus direcciones se\n\
                      rechazan durante una hora. Usted puede entrar desde donde ya lo hizo antes.\n\n",
            closing: "Si no fue usted, abra el panel en la dirección que utiliza, cambie la contraseña y active el\n\
                      segundo factor.\n",
        },
        _ => MailTexts {
            subject: "Sign-ins to your administrator account were refused",
            opening: "Hello {name},\n\n\
                      too many attempts to sign in to your administrator account failed: the addresses they came from\n\
                      are refused for an hour. You can still sign in from where you did before.\n\n",
            closing: "If it was not you, open the panel at the address that you use, change your password and turn on\n\
                      the second factor.\n",
        },
    }
}
