package dev.idempotent.autoconfigure;

import java.util.ArrayList;
import java.util.List;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.CanonicalForm;
import dev.idempotent.idempotency.canonical.CanonicalValues;
import dev.idempotent.idempotency.operation.JsonForm;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

/**
 * Configuration of how keys, arguments and results are compared.
 */
@Configuration(proxyBeanMethods = false)
public class CanonicalValuesConfiguration {

	@Bean
	@Lazy
	CanonicalValues idempotentCanonicalValues(ObjectProvider<CanonicalForm<?>> declared) {
		List<CanonicalForm<?>> forms = new ArrayList<>(List.of(new JsonForm()));
		declared.orderedStream().forEach((form) -> {
			if (forms.stream().anyMatch((other) -> other.type() == form.type())) {
				throw new IdempotentConfigurationException(
						"There are two beans of type CanonicalForm for " + form.type().getName()
								+ ", so that the same value could have two canonical forms.",
						"Remove one of them. Trees of JSON (JsonNode) have a form already.");
			}
			forms.add(form);
		});
		return new CanonicalValues(forms);
	}

}
