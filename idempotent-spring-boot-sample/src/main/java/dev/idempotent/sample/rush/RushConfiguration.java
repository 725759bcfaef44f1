package dev.idempotent.sample.rush;

import dev.idempotent.sample.stock.StockGate;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.web.server.ConfigurableWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * Configures rushes on this instance.
 */
@Configuration(proxyBeanMethods = false)
class RushConfiguration {

	@Bean
	SaleAuditor saleAuditor(JdbcClient jdbc, PlatformTransactionManager transactions, StockGate gate) {
		return new SaleAuditor(jdbc, transactions, gate::view);
	}

	/**
	 * A rush from the command line runs beside an instance on the default port.
	 */
	@Bean
	@ConditionalOnProperty("sample.rush.users")
	WebServerFactoryCustomizer<ConfigurableWebServerFactory> anyFreePort(@Value("${server.port:0}") int port) {
		return (factory) -> factory.setPort(port);
	}

}
