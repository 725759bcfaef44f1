package dev.idempotent.autoconfigure;

import java.util.Arrays;
import java.util.Base64;
import java.util.Map;
import java.util.TreeMap;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.encryption.AesGcmPayloadCipher;
import dev.idempotent.encryption.PayloadCipher;
import dev.idempotent.encryption.PayloadEncryption;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

/**
 * The encryption of what is stored, which the stores of keys and of events share: with
 * the keys of the properties or with a bean of the application.
 */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(EncryptionConfiguration.EncryptionProperties.class)
public class EncryptionConfiguration {

	/**
	 * Not lazy: the application must not start with a mistake.
	 */
	@Bean
	@Lazy(false)
	PayloadEncryption payloadEncryption(EncryptionProperties properties, ObjectProvider<PayloadCipher> ciphers) {
		PayloadCipher bean = ciphers.getIfAvailable();
		if (bean != null && properties.hasKeys()) {
			throw new IdempotentConfigurationException(
					"There is a bean of type PayloadCipher, and idempotent.encryption.keys has keys.",
					"Remove one of them. To read what was encrypted with these keys, let the bean use an "
							+ "AesGcmPayloadCipher with them.");
		}
		PayloadCipher cipher = properties.hasKeys() ? properties.cipher() : bean;
		if (cipher == null && properties.readPlaintext()) {
			throw readPlaintextHasNoEffect();
		}
		return (cipher != null) ? new PayloadEncryption(cipher, properties.readPlaintext()) : PayloadEncryption.NONE;
	}

	private static IdempotentConfigurationException readPlaintextHasNoEffect() {
		return new IdempotentConfigurationException(
				"idempotent.encryption.read-plaintext is true, but nothing is encrypted.",
				"Add a key under idempotent.encryption.keys, or remove idempotent.encryption.read-plaintext.");
	}

	/**
	 * Properties of the encryption of stored responses and events.
	 *
	 * @param keys Keys by id, each 32 random bytes in Base64. Data that was encrypted
	 * with any of them can be read.
	 * @param activeKey Id of the key that encrypts.
	 * @param readPlaintext Whether stored data that is not encrypted is accepted, such as
	 * data from before the encryption was switched on.
	 */
	@ConfigurationProperties("idempotent.encryption")
	record EncryptionProperties(@DefaultValue Map<String, String> keys, @Nullable String activeKey,
			@DefaultValue("false") boolean readPlaintext) {

		private static final String KEYS = "idempotent.encryption.keys";

		private static final String GENERATE = "Set it to 32 random bytes in Base64, such as from: openssl rand -base64 32";

		EncryptionProperties {
			Map<String, byte[]> decoded = decode(keys);
			requireDifferent(decoded);
			requireActive(decoded, activeKey);
		}

		boolean hasKeys() {
			return !this.keys.isEmpty();
		}

		PayloadCipher cipher() {
			return new AesGcmPayloadCipher(decode(this.keys), (this.activeKey != null) ? this.activeKey : "");
		}

		private static Map<String, byte[]> decode(Map<String, String> keys) {
			Map<String, byte[]> decoded = new TreeMap<>();
			keys.forEach((id, key) -> {
				if (!AesGcmPayloadCipher.isKeyId(id)) {
					throw new IdempotentConfigurationException("The id of a key under " + KEYS + " is not valid.",
							"Use 1 to 32 lower-case letters, digits and dashes, such as " + KEYS
									+ ".k1. The name of an "
									+ "environment variable cannot contain dashes, so ids that it sets have letters and "
									+ "digits only.");
				}
				decoded.put(id, decode(KEYS + "." + id, key));
			});
			return decoded;
		}

		private static byte[] decode(String property, String key) {
			if (key.contains("${")) {
				throw new IdempotentConfigurationException(
						property + " has a placeholder for a property or environment variable that is not set.",
						GENERATE);
			}
			byte[] bytes;
			try {
				bytes = Base64.getDecoder().decode(key.strip());
			}
			catch (IllegalArgumentException ex) {
				// The message of the exception contains a character of the key.
				throw new IdempotentConfigurationException(property + " is not valid Base64.", GENERATE);
			}
			if (bytes.length != AesGcmPayloadCipher.KEY_BYTES) {
				throw new IdempotentConfigurationException("%s has %d bytes, but must have %d.".formatted(property,
						bytes.length, AesGcmPayloadCipher.KEY_BYTES), GENERATE);
			}
			return bytes;
		}

		private static void requireDifferent(Map<String, byte[]> keys) {
			keys.forEach((id, key) -> keys.forEach((other, otherKey) -> {
				if (id.compareTo(other) < 0 && Arrays.equals(key, otherKey)) {
					throw new IdempotentConfigurationException(
							"%s.%s and %s.%s are the same key.".formatted(KEYS, id, KEYS, other),
							"Generate a new key for one of them.");
				}
			}));
		}

		private static void requireActive(Map<String, byte[]> keys, @Nullable String activeKey) {
			if (activeKey == null && keys.isEmpty()) {
				return;
			}
			if (keys.isEmpty()) {
				throw new IdempotentConfigurationException(
						"idempotent.encryption.active-key is set, but " + KEYS + " has no keys.",
						"Add the key, or remove idempotent.encryption.active-key.");
			}
			if (activeKey == null || !keys.containsKey(activeKey)) {
				throw new IdempotentConfigurationException(
						"idempotent.encryption.active-key is "
								+ ((activeKey == null) ? "missing." : "not the id of a key under " + KEYS + "."),
						"Set it to the id of the key that encrypts: one of " + keys.keySet() + ".");
			}
		}

		/**
		 * Without the keys.
		 */
		@Override
		public String toString() {
			return "EncryptionProperties[keys=" + this.keys.keySet() + ", activeKey=" + this.activeKey
					+ ", readPlaintext=" + this.readPlaintext + "]";
		}

	}

}
