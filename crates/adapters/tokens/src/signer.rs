//! Access tokens as signed JWTs (contract 02 §2.5).

use crate::hs256;
use crate::keys::{SecretKeys, derive, key_id};
use civitas_accounts::{Claims, TokenError, TokenSigner};
use civitas_kernel::{Error, Result};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, decode_header, encode};
use moka::sync::Cache;
use std::sync::Arc;
use std::time::Duration;

/// The purpose of the signing key.
const PURPOSE: &str = "access tokens";

/// The longest token, in bytes; a longer one is refused unread. Own tokens are below 1 KiB.
const MAX_LENGTH: usize = 4096;

/// The most tokens whose claims are cached.
const MAX_CACHED: u64 = 10_000;
/// How long the claims of a token stay cached after its last use.
const MAX_IDLE: Duration = Duration::from_secs(60);

/// Signs tokens with HS256, and nothing else. The first key signs, all verify.
#[derive(Debug)]
pub struct JwtTokenSigner {
    signing: EncodingKey,
    header: Header,
    verifying: Vec<VerifyingKey>,
    validation: Validation,
    /// The claims of valid tokens, which never change. Whether a token is still valid is in the stored row of the token,
    /// which each request checks.
    verified: Cache<String, Arc<Claims>>,
}

/// A key that verifies, and its name in the header of tokens.
#[derive(Debug)]
struct VerifyingKey {
    id: String,
    key: DecodingKey,
}

impl JwtTokenSigner {
    /// Derives the keys from the deployment's secrets.
    pub fn new(secrets: &SecretKeys) -> Self {
        hs256::install();
        let mut validation = Validation::new(Algorithm::HS256);
        // Time, issuer and audience are checked with the stored row (contract 02 §2.5), not here.
        validation.required_spec_claims.clear();
        validation.validate_exp = false;
        validation.validate_aud = false;
        let verifying = secrets.iter().map(|secret| VerifyingKey {
            id: key_id(secret),
            key: DecodingKey::from_secret(&derive(secret, PURPOSE)),
        });
        let header = Header { kid: Some(key_id(secrets.first())), ..Header::new(Algorithm::HS256) };
        let signing = EncodingKey::from_secret(&derive(secrets.first(), PURPOSE));
        let verified = Cache::builder().max_capacity(MAX_CACHED).time_to_idle(MAX_IDLE).build();
        Self { signing, header, verifying: verifying.collect(), validation, verified }
    }

    /// The claims of a token signed with one of the keys. Its header may name the key; a token from before keys had
    /// names is tried with each.
    fn read(&self, token: &str) -> Option<Claims> {
        let read = |known: &VerifyingKey| decode::<Claims>(token, &known.key, &self.validation).ok();
        let read = match &self.verifying[..] {
            [only] => read(only),
            all => {
                let named = decode_header(token).ok()?.kid;
                let may_be = |known: &&VerifyingKey| named.as_ref().is_none_or(|id| *id == known.id);
                all.iter().filter(may_be).find_map(read)
            }
        };
        read.map(|read| read.claims)
    }
}

impl TokenSigner for JwtTokenSigner {
    fn sign(&self, claims: &Claims) -> Result<String> {
        encode(&self.header, claims, &self.signing).map_err(Error::internal)
    }

    fn verify(&self, token: &str) -> Result<Arc<Claims>, TokenError> {
        if token.len() > MAX_LENGTH {
            return Err(TokenError::Invalid);
        }
        if let Some(claims) = self.verified.get(token) {
            return Ok(claims);
        }
        let claims = self.read(token).ok_or(TokenError::Invalid)?;
        // Only the canonical text: `+5` and `05` are refused.
        if !claims.token().is_some_and(|token| token.0 > 0 && token.to_string() == claims.sub) {
            return Err(TokenError::Invalid);
        }
        let claims = Arc::new(claims);
        self.verified.insert(token.to_owned(), claims.clone());
        Ok(claims)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::SECRET_BYTES;
    use base64::Engine;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE, URL_SAFE_NO_PAD};
    use ring::hmac;
    use serde_json::{Value, json};

    const SECRET: [u8; 32] = [7; 32];

    fn claims() -> Claims {
        Claims {
            iss: "https://city.example".to_owned(),
            aud: "https://city.example".to_owned(),
            sub: "1661".to_owned(),
            jti: "4fRk29aQpLx0WmZt".to_owned(),
            client_id: "id_4fRk29aQpLx0WmZt".to_owned(),
            scope: "public proposals".to_owned(),
            iat: 1_767_261_600,
            exp: 1_767_268_800,
        }
    }

    /// A token with a valid signature: its faults are in its first two parts.
    fn ours(header: &str, payload: &str) -> String {
        forged(header, payload, hmac::HMAC_SHA256, &derive(&SECRET, PURPOSE))
    }

    fn forged(header: &str, payload: &str, algorithm: hmac::Algorithm, key: &[u8]) -> String {
        let message = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(payload));
        let signature = hmac::sign(&hmac::Key::new(algorithm, key), message.as_bytes());
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
    }

    const HS256: &str = r#"{"typ":"JWT","alg":"HS256"}"#;

    /// Valid claims with one of them changed or removed.
    fn with(name: &str, value: Option<Value>) -> String {
        let mut claims = serde_json::to_value(claims()).unwrap();
        match value {
            Some(value) => claims[name] = value,
            None => drop(claims.as_object_mut().unwrap().remove(name)),
        }
        ours(HS256, &claims.to_string())
    }

    /// Signatures with other keys, or with another algorithm in the header.
    fn wrongly_signed() -> Vec<(&'static str, String)> {
        let payload = serde_json::to_string(&claims()).unwrap();
        let key = derive(&SECRET, PURPOSE);
        let header = |alg: &str| format!(r#"{{"typ":"JWT","alg":"{alg}"}}"#);
        let unsigned = |alg: &str| {
            format!("{}.{}.", URL_SAFE_NO_PAD.encode(header(alg)), URL_SAFE_NO_PAD.encode(&payload))
        };
        vec![
            ("alg none without signature", unsigned("none")),
            ("alg None without signature", unsigned("None")),
            ("alg HS256 without signature", unsigned("HS256")),
            ("alg none with our signature", ours(&header("none"), &payload)),
            ("alg HS384 in the header", ours(&header("HS384"), &payload)),
            ("HS384 with our key", forged(&header("HS384"), &payload, hmac::HMAC_SHA384, &key)),
            ("HS512 with our key", forged(&header("HS512"), &payload, hmac::HMAC_SHA512, &key)),
            ("HS512 under the name HS256", forged(HS256, &payload, hmac::HMAC_SHA512, &key)),
            ("alg RS256", ours(&header("RS256"), &payload)),
            ("alg EdDSA", ours(&header("EdDSA"), &payload)),
            ("alg ES256", ours(&header("ES256"), &payload)),
            ("alg hs256 in small letters", ours(&header("hs256"), &payload)),
            ("no alg", ours(r#"{"typ":"JWT"}"#, &payload)),
            ("alg is a number", ours(r#"{"typ":"JWT","alg":256}"#, &payload)),
            ("header is no object", ours("[]", &payload)),
            ("header is no JSON", ours("HS256", &payload)),
            ("key of zeros", forged(HS256, &payload, hmac::HMAC_SHA256, &[0; 32])),
            ("empty key", forged(HS256, &payload, hmac::HMAC_SHA256, b"")),
            ("the secret itself as key", forged(HS256, &payload, hmac::HMAC_SHA256, &SECRET)),
            ("key of another purpose", {
                forged(HS256, &payload, hmac::HMAC_SHA256, &derive(&SECRET, "upload links"))
            }),
            (
                "another deployment",
                JwtTokenSigner::new(&SecretKeys::single([8; 32])).sign(&claims()).unwrap(),
            ),
        ]
    }

    /// A valid token, damaged.
    fn damaged() -> Vec<(&'static str, String)> {
        let good = JwtTokenSigner::new(&SecretKeys::single(SECRET)).sign(&claims()).unwrap();
        let parts: Vec<&str> = good.split('.').collect();
        let [header, payload, signature] = parts[..] else { panic!("{good}") };
        let richer = serde_json::to_string(&Claims { scope: "system".to_owned(), ..claims() }).unwrap();
        let padded = URL_SAFE.encode(URL_SAFE_NO_PAD.decode(signature).unwrap());
        // 32 bytes leave two unused bits in the last character.
        let last = signature.chars().last().unwrap();
        let next = char::from_u32(u32::from(last) + 1).unwrap();
        vec![
            ("nothing", String::new()),
            ("blank", "   ".to_owned()),
            ("one dot", ".".to_owned()),
            ("two dots", "..".to_owned()),
            ("header only", header.to_owned()),
            ("without signature part", format!("{header}.{payload}")),
            ("empty signature", format!("{header}.{payload}.")),
            ("four parts", format!("{good}.{signature}")),
            ("a dot before", format!(".{good}")),
            ("a dot behind", format!("{good}.")),
            ("parts exchanged", format!("{payload}.{header}.{signature}")),
            ("signature cut", good[..good.len() - 1].to_owned()),
            ("signature of half its length", good[..good.len() - 22].to_owned()),
            ("signature padded", format!("{header}.{payload}.{padded}")),
            ("unused bits of the signature set", format!("{}{next}", &good[..good.len() - 1])),
            ("signature in the other alphabet", format!("{header}.{payload}.{}", STANDARD.encode([255; 32]))),
            ("payload edited", format!("{header}.{}.{signature}", URL_SAFE_NO_PAD.encode(richer))),
            ("payload cut", format!("{header}.{}.{signature}", &payload[1..])),
            (
                "header edited",
                format!("{}.{payload}.{signature}", URL_SAFE_NO_PAD.encode(r#"{"alg":"HS256"}"#)),
            ),
            ("space behind", format!("{good} ")),
            ("line break in it", format!("{header}.\n{payload}.{signature}")),
            ("with its scheme", format!("Bearer {good}")),
            ("unicode", format!("{header}.{payload}.ü{signature}")),
            ("only unicode", "🗳️.🗳️.🗳️".to_owned()),
            ("a NUL behind", format!("{good}\0")),
            ("huge", "e".repeat(10_000_000)),
        ]
    }

    /// Signed with the right key, but invalid.
    fn wrong_inside() -> Vec<(&'static str, String)> {
        let text = |text: &str| Some(Value::from(text));
        vec![
            ("sub is a word", with("sub", text("admin"))),
            ("sub is empty", with("sub", text(""))),
            ("sub is a number", with("sub", Some(1661.into()))),
            ("sub is negative", with("sub", text("-1"))),
            ("sub has a sign", with("sub", text("+1661"))),
            ("sub has a zero before", with("sub", text("01661"))),
            ("sub is too large", with("sub", text("99999999999999999999"))),
            ("sub is null", with("sub", Some(Value::Null))),
            ("no sub", with("sub", None)),
            ("no jti", with("jti", None)),
            ("no exp", with("exp", None)),
            ("exp is a text", with("exp", text("1767268800"))),
            ("exp is a fraction", with("exp", Some(json!(1.5)))),
            ("no client_id", with("client_id", None)),
            ("scope is a list", with("scope", Some(json!(["public"])))),
            ("payload is a list", ours(HS256, "[]")),
            ("payload is no JSON", ours(HS256, "sub=1661")),
            ("payload is empty", ours(HS256, "")),
            ("payload is said twice", ours(HS256, r#"{"sub":"1","sub":"2"}"#)),
            ("longer than ours can be", with("scope", text(&"public ".repeat(1000)))),
        ]
    }

    #[test]
    fn whatever_is_wrong_with_a_token_it_is_invalid() {
        let table = [wrongly_signed(), damaged(), wrong_inside()].concat();
        assert!(table.len() >= 60, "{}", table.len());
        let signer = JwtTokenSigner::new(&SecretKeys::single(SECRET));
        // The good token, from which the damaged ones are made, is in the cache.
        assert!(signer.verify(&signer.sign(&claims()).unwrap()).is_ok());
        for (what, token) in &table {
            assert_eq!(signer.verify(token), Err(TokenError::Invalid), "{what}");
            assert_eq!(signer.verify(token), Err(TokenError::Invalid), "{what}, again");
        }
    }

    #[test]
    fn the_forger_of_this_table_can_make_a_good_token() {
        assert_eq!(
            JwtTokenSigner::new(&SecretKeys::single(SECRET))
                .verify(&with("scope", Some("system".into())))
                .unwrap()
                .scope,
            "system"
        );
    }

    #[test]
    fn claims_come_back_whatever_their_time() {
        let signer = JwtTokenSigner::new(&SecretKeys::single(SECRET));
        for exp in [0, -1, 1, i64::MAX] {
            let claims = Arc::new(Claims { exp, ..claims() });
            let token = signer.sign(&claims).unwrap();
            assert_eq!(signer.verify(&token), Ok(claims.clone()));
            assert_eq!(signer.verify(&token), Ok(claims), "from the cache");
        }
    }

    #[test]
    fn the_header_names_hs256_and_jwt_and_the_key() {
        let token = JwtTokenSigner::new(&SecretKeys::single(SECRET)).sign(&claims()).unwrap();
        let header = URL_SAFE_NO_PAD.decode(token.split('.').next().unwrap()).unwrap();
        let header: Value = serde_json::from_slice(&header).unwrap();
        assert_eq!(header, json!({"alg": "HS256", "typ": "JWT", "kid": key_id(&SECRET)}));
    }

    fn with_keys(secrets: &[u8]) -> JwtTokenSigner {
        JwtTokenSigner::new(&SecretKeys::new(secrets.iter().map(|byte| [*byte; SECRET_BYTES])).unwrap())
    }

    #[test]
    fn tokens_of_older_keys_are_valid_until_the_key_is_removed() {
        let (old, both, new) = (with_keys(&[7]), with_keys(&[8, 7]), with_keys(&[8]));
        let unnamed = with("scope", Some("public".into()));
        for token in [old.sign(&claims()).unwrap(), unnamed] {
            assert!(old.verify(&token).is_ok() && both.verify(&token).is_ok());
            assert_eq!(new.verify(&token), Err(TokenError::Invalid));
        }
        let token = both.sign(&claims()).unwrap();
        assert!(new.verify(&token).is_ok());
        assert_eq!(old.verify(&token), Err(TokenError::Invalid));
    }

    #[test]
    fn the_name_of_another_key_makes_a_token_invalid() {
        let both = with_keys(&[8, 7]);
        let payload = serde_json::to_string(&claims()).unwrap();
        for (id, is_valid) in
            [(key_id(&SECRET), true), (key_id(&[8; 32]), false), ("unknown".to_owned(), false)]
        {
            let token = ours(&json!({"alg": "HS256", "typ": "JWT", "kid": id}).to_string(), &payload);
            assert_eq!(both.verify(&token).is_ok(), is_valid, "{id}");
        }
        let both = with_keys(&[9, 7]);
        for (what, token) in [wrongly_signed(), damaged(), wrong_inside()].concat() {
            assert_eq!(both.verify(&token), Err(TokenError::Invalid), "{what}");
        }
    }
}
