package dev.idempotent.autoconfigure.idempotency;

import java.util.List;
import java.util.Map;

import dev.idempotent.idempotency.client.IdempotencyKeyInterceptor;
import dev.idempotent.idempotency.client.PropagationTargets;
import dev.idempotent.idempotency.client.RestClientKeys;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigureOrder;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.ConfigurationPropertyState;
import org.springframework.boot.restclient.RestClientCustomizer;
import org.springframework.boot.restclient.RestTemplateCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.http.client.ClientHttpRequestInterceptor;

/**
 * Auto-configuration that lets Spring Boot's HTTP clients, and clients of the application
 * that apply {@link RestClientKeys}, send derived keys to other services. Applied last,
 * so that its interceptor comes before the interceptors of other customizers.
 */
@AutoConfiguration
@AutoConfigureOrder(Ordered.LOWEST_PRECEDENCE)
@ConditionalOnBooleanProperty(name = "idempotent.enabled", matchIfMissing = true)
@ConditionalOnClass(ClientHttpRequestInterceptor.class)
final class IdempotencyClientAutoConfiguration {

	@Bean
	@Lazy
	@ConditionalOnMissingBean
	RestClientKeys idempotencyRestClientKeys(ObjectProvider<IdempotencyKeyInterceptor> interceptors) {
		return new RestClientKeys(
				interceptors.getIfAvailable(() -> new IdempotencyKeyInterceptor(PropagationTargets.of(Map.of()))));
	}

	@Configuration(proxyBeanMethods = false)
	@Conditional(OnTargets.class)
	@EnableConfigurationProperties(IdempotencyProperties.Client.class)
	static class WithTargets {

		@Bean
		@ConditionalOnMissingBean
		IdempotencyKeyInterceptor idempotencyKeyInterceptor(IdempotencyProperties.Client properties) {
			return new IdempotencyKeyInterceptor(properties.propagationTargets());
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Conditional(OnTargets.class)
	@ConditionalOnClass(RestClientCustomizer.class)
	static class WithBootClients {

		@Bean
		@Order(Ordered.LOWEST_PRECEDENCE)
		RestClientCustomizer idempotencyKeyRestClientCustomizer(IdempotencyKeyInterceptor interceptor) {
			return (builder) -> builder.requestInterceptors((interceptors) -> putFirst(interceptor, interceptors));
		}

		@Bean
		@Order(Ordered.LOWEST_PRECEDENCE)
		RestTemplateCustomizer idempotencyKeyRestTemplateCustomizer(IdempotencyKeyInterceptor interceptor) {
			return (restTemplate) -> putFirst(interceptor, restTemplate.getInterceptors());
		}

		private static void putFirst(IdempotencyKeyInterceptor interceptor,
				List<ClientHttpRequestInterceptor> interceptors) {
			interceptors.remove(interceptor);
			interceptors.add(0, interceptor);
		}

	}

	static final class OnTargets extends SpringBootCondition {

		private static final List<ConfigurationPropertyName> PROPERTIES = List.of(
				ConfigurationPropertyName.of("idempotent.client.targets"),
				ConfigurationPropertyName.of("idempotent.client.repeatable"),
				ConfigurationPropertyName.of("idempotent.client.honouring-keys"));

		@Override
		public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
			ConditionMessage.Builder message = ConditionMessage.forCondition("Idempotency key propagation");
			for (ConfigurationPropertySource source : ConfigurationPropertySources.get(context.getEnvironment())) {
				for (ConfigurationPropertyName property : PROPERTIES) {
					if (source.getConfigurationProperty(property) != null
							|| source.containsDescendantOf(property) == ConfigurationPropertyState.PRESENT) {
						return ConditionOutcome.match(message.foundExactly(property));
					}
				}
			}
			return ConditionOutcome.noMatch(message.didNotFind("properties").items(PROPERTIES));
		}

	}

}
