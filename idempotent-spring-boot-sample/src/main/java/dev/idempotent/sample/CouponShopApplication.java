package dev.idempotent.sample;

import org.slf4j.LoggerFactory;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;
import org.springframework.core.env.Environment;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.scheduling.annotation.EnableScheduling;

/**
 * The coupon shop.
 */
@SpringBootApplication
@ConfigurationPropertiesScan
@EnableResilientMethods
@EnableScheduling
public class CouponShopApplication {

	public static void main(String[] args) {
		Environment environment = SpringApplication.run(CouponShopApplication.class, args).getEnvironment();
		String port = environment.getProperty("local.server.port");
		if (port != null) {
			LoggerFactory.getLogger(CouponShopApplication.class).info("The shop is open: http://localhost:{}", port);
		}
	}

}
