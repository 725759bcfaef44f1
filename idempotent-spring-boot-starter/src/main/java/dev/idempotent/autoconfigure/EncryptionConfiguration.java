package dev.idempotent.autoconfigure;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.encryption.PayloadCipher;
import dev.idempotent.encryption.PayloadEncryption;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

/**
 * The encryption of what is stored, which the stores of keys and of events share: with
 * the keys of the properties or with a bean of the application.
 */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(EncryptionProperties.class)
public class EncryptionConfiguration {

	/**
	 * Not lazy, because mistakes stop the start.
	 */
	@Bean
	@Lazy(false)
	PayloadEncryption payloadEncryption(EncryptionProperties properties, ObjectProvider<PayloadCipher> ciphers) {
		PayloadCipher bean = ciphers.getIfAvailable();
		if (bean != null && properties.hasKeys()) {
			throw new IdempotentConfigurationException(
					"There is a bean of type PayloadCipher, and idempotent.encryption.keys has keys.",
					"Remove one of them. To read what was encrypted with these keys, let the bean use an "
							+ "AesGcmPayloadCipher with them.",
					null);
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
				"Add a key under idempotent.encryption.keys, or remove idempotent.encryption.read-plaintext.", null);
	}

}
