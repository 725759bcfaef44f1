package dev.idempotent.encryption;

/**
 * How the application protects what it stores.
 *
 * @param cipher encrypts everything that is stored from now on
 * @param readPlaintext whether data that is not encrypted is accepted when it is read
 */
public record PayloadEncryption(PayloadCipher cipher, boolean readPlaintext) {
}
