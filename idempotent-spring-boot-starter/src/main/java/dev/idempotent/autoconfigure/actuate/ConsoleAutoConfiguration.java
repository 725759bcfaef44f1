package dev.idempotent.autoconfigure.actuate;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/**
 * Auto-configuration for the console.
 */
@AutoConfiguration
@ConditionalOnClass({ ConditionalOnAvailableEndpoint.class, WebEndpoint.class })
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnAvailableEndpoint(endpoint = ConsoleEndpoint.class)
final class ConsoleAutoConfiguration {

	@Bean
	ConsoleEndpoint consoleEndpoint(ObjectProvider<PathMappedEndpoints> exposed, Environment environment) {
		return new ConsoleEndpoint(exposed::getObject, environment.getProperty("spring.application.name", ""));
	}

}
