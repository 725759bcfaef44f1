package dev.idempotent.autoconfigure;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.encryption.AesGcmPayloadCipher;
import dev.idempotent.encryption.PayloadCipher;
import dev.idempotent.encryption.PayloadEncryption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.throwable;

/**
 * Tests for {@link EncryptionConfiguration}.
 */
class EncryptionConfigurationTests {

	private static final String KEY = base64(32, "first-secret");

	private static final String OTHER_KEY = base64(32, "other-secret");

	private final ApplicationContextRunner application = new ApplicationContextRunner()
		.withUserConfiguration(EncryptionConfiguration.class);

	@Test
	void encryptsNothingWithoutKeys() {
		this.application
			.run((context) -> assertThat(context).getBean(PayloadEncryption.class).isSameAs(PayloadEncryption.NONE));
	}

	@Test
	void encryptsWithTheActiveKeyAndReadsWithAll() {
		this.application
			.withPropertyValues("idempotent.encryption.keys.k1=" + KEY,
					"idempotent.encryption.keys.2026-05=" + OTHER_KEY, "idempotent.encryption.active-key=2026-05")
			.run((context) -> {
				PayloadEncryption encryption = context.getBean(PayloadEncryption.class);
				assertThat(encryption.readPlaintext()).isFalse();
				PayloadCipher cipher = requireNonNull(encryption.cipher());
				byte[] encrypted = cipher.encrypt(new byte[4], new byte[0]);
				assertThat(new String(encrypted, StandardCharsets.ISO_8859_1)).contains("2026-05");
				assertThat(cipher.decrypt(encrypted, new byte[0])).containsOnly(0).hasSize(4);
				assertThat(context.getBean(EncryptionConfiguration.EncryptionProperties.class)).asString()
					.doesNotContain(KEY, OTHER_KEY);
			});
	}

	@Test
	void takesTheBeanOfTheApplication() {
		this.application.withBean(PayloadCipher.class, EncryptionConfigurationTests::ofTheApplication)
			.withPropertyValues("idempotent.encryption.read-plaintext=true")
			.run((context) -> assertThat(context).getBean(PayloadEncryption.class)
				.isEqualTo(new PayloadEncryption(context.getBean(PayloadCipher.class), true)));
	}

	@Test
	void refusesABeanBesideKeys() {
		this.application.withBean(PayloadCipher.class, EncryptionConfigurationTests::ofTheApplication)
			.withPropertyValues("idempotent.encryption.keys.k1=" + KEY, "idempotent.encryption.active-key=k1")
			.run((context) -> assertThat(context).getFailure()
				.hasRootCauseMessage(
						"There is a bean of type PayloadCipher, and idempotent.encryption.keys has keys."));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					keys.k1=c2hvcnQtc2VjcmV0 active-key=k1      | idempotent.encryption.keys.k1 has 12 bytes, but must have 32.
					keys.k1= active-key=k1                      | idempotent.encryption.keys.k1 has 0 bytes, but must have 32.
					keys.k1=s3cr*t active-key=k1                | idempotent.encryption.keys.k1 is not valid Base64.
					keys.K_1=KEY active-key=k1                  | The id of a key under idempotent.encryption.keys is not valid.
					keys.KEY=k1 active-key=k1                   | The id of a key under idempotent.encryption.keys is not valid.
					keys.k1=KEY                                 | idempotent.encryption.active-key is missing.
					keys.k1=KEY active-key=k2                   | idempotent.encryption.active-key is not the id of a key under idempotent.encryption.keys.
					keys.k1=KEY active-key=KEY                  | idempotent.encryption.active-key is not the id of a key under idempotent.encryption.keys.
					active-key=k1                               | idempotent.encryption.active-key is set, but idempotent.encryption.keys has no keys.
					keys.k1=KEY keys.k2=KEY active-key=k1       | idempotent.encryption.keys.k1 and idempotent.encryption.keys.k2 are the same key.
					read-plaintext=true                         | idempotent.encryption.read-plaintext is true, but nothing is encrypted.
					""")
	void stopsTheStartWithAMessageThatShowsNoKey(String properties, String message) {
		String[] all = properties.strip().replace("KEY", KEY).split(" ");
		for (int i = 0; i < all.length; i++) {
			all[i] = "idempotent.encryption." + all[i].replace("keys." + KEY, "keys[" + KEY + "]");
		}
		this.application.withPropertyValues(all).run((context) -> {
			assertThat(context).getFailure()
				.rootCause()
				.hasMessage(message)
				.asInstanceOf(throwable(IdempotentConfigurationException.class))
				.extracting(IdempotentConfigurationException::getAction)
				.asString()
				.doesNotContain(KEY, "s3cr");
			assertThat(context).getFailure()
				.satisfies((ex) -> assertThat(stackTrace(ex)).doesNotContain(KEY, "s3cr", "c2hv"));
		});
	}

	private static String stackTrace(Throwable failure) {
		StringWriter text = new StringWriter();
		failure.printStackTrace(new PrintWriter(text));
		return text.toString();
	}

	private static PayloadCipher ofTheApplication() {
		return new AesGcmPayloadCipher(Map.of("kms", new byte[32]), "kms");
	}

	private static String base64(int length, String text) {
		byte[] bytes = Arrays.copyOf(text.getBytes(StandardCharsets.UTF_8), length);
		return Base64.getEncoder().encodeToString(bytes);
	}

}
